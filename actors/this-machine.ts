/** Whether the host of an address, as `URL` spells it, is this machine. Such an address may do without TLS. */
export const isThisMachine = (hostname: string): boolean =>
  /^(localhost|127(\.\d{1,3}){3}|\[::1\])$/.test(hostname);
