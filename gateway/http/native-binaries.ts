/**
 * The native part of the HTTP server: third-party code that runs in the process that holds all the keys. This file
 * records by SHA-256 the binaries that were tested with this release.
 *
 * Each binary is for one platform, one kind of processor, and one version of the interface that Node.js gives to such
 * programs (`process.versions.modules`). Two packages repack uWebSockets.js: the older one runs on older systems, and
 * the newer one on newer versions of Node.js.
 */

export interface NativePackage {
  readonly name: string;
  /** The folder of the binaries, relative to the package's entry. */
  readonly folder: string;
  /** The version of glibc on Linux that the binaries link against. */
  readonly glibcMin: string;
  /** The version of Node.js of each interface. */
  readonly nodeVersions: Readonly<Record<string, number>>;
  /** Keyed by file. */
  readonly sha256: Readonly<Record<string, string>>;
}

export const nativePackages: readonly NativePackage[] = [
  {
    name: 'uWebSockets.js',
    folder: './bin/',
    glibcMin: '2.28',
    nodeVersions: { 115: 20, 127: 22 },
    sha256: {
      'uws_darwin_arm64_115.node': '5d523bccbe80d3d8fa59422ff81801b8179212b9a8a5da28bff6926a95a65701',
      'uws_darwin_arm64_127.node': 'abbeea53d48e21c01808203e9f9835728f2cea720d2e5b154837ee3045b513be',
      'uws_darwin_x64_115.node': '1f2a5c73d9dc3066d39b675b73f2c50eddbc4f270d292a6126ddfe3757c54cf9',
      'uws_darwin_x64_127.node': 'afd992dc1ca1e33cdc7ce0c72a60baf236e590a257fcecbbbce7bc1a35451387',
      'uws_linux_arm64_115.node': 'c0e29fc143b46b584f3debec7910014ec228198fc1f17aaeacd1de7991bd3769',
      'uws_linux_arm64_127.node': 'd4c4f8b2c28c5f6544b49e36d91b0beee238a5b90a07904a947f77061c8b814d',
      'uws_linux_arm_115.node': 'b02d5bc5ab08f040b6b9b818c3eb92806611f77a4dc2439a8f14cac827d498be',
      'uws_linux_arm_127.node': '0e1d4024b629a1fe17ec76cde8fe7e320101eb8bdcf7b2c4086933932e3cea23',
      'uws_linux_x64_115.node': '6f8d96d761a64beddb060f1f7f0e617dd293ed127ec1d57507aa561a0083171e',
      'uws_linux_x64_127.node': '8cabc918bbf9a07323e54f89a33882491080b2eb35df0607f473ccdb1f3c31af',
      'uws_win32_x64_115.node': '58c8b8e47ae3dc6c382dbfc24656755106cbecce56add05ca2c32d5c39951ddd',
      'uws_win32_x64_127.node': '585d6ee2dbfc750b1d5a59e6ceaef8a977e90ef3e298a82821d58b41cd72a8c0',
    },
  },
  {
    name: '@btc-vision/uwebsockets.js',
    folder: './',
    glibcMin: '2.38',
    nodeVersions: { 137: 24 },
    sha256: {
      'uws_darwin_arm64_137.node': '2187391c702fa7ad3bf685eff7712c15cf24fa7cf324a131dfcbae3fd0f20a9a',
      'uws_darwin_x64_137.node': '98fd7e9456e2d37d3262b05b053d673830927f91c63c0c2ae73bde8d19eef293',
      'uws_linux_arm64_137.node': '88618b30ddf6b2b62310db89f40a701616676352aac5e0f6184dd8ef876199ce',
      'uws_linux_x64_137.node': '98128405dba2fb608448e921a979530f70c946a2cc9889c15f2fa70c2d00ab05',
      'uws_win32_x64_137.node': '84ae72d2149e6ffa2a44063344073599027b1ce8bffaab3957903f966b0c6bb9',
    },
  },
];
