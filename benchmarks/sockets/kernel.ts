/** The kernel's memory for sockets (Linux), of the whole machine: read before and after, with little else going on. */
import { readFileSync } from 'node:fs';

/** For a TCP connection: the socket itself, its file, its name and its entry in an epoll. */
const caches = ['TCP', 'sock_inode_cache', 'filp', 'dentry', 'eventpoll_epi', 'eventpoll_pwq', 'tw_sock_TCP'];
const pageBytes = 4_096;

/** Bytes of buffers and of the existing caches; NaN if only root may read them. */
export function kernelBytes(): number {
  const pages = /^TCP: .* mem (\d+)$/m.exec(readFileSync('/proc/net/sockstat', 'utf8'))?.[1];
  return Number(pages) * pageBytes + slabBytes();
}

function slabBytes(): number {
  try {
    const lines = readFileSync('/proc/slabinfo', 'utf8').split('\n');
    return lines.reduce((sum, line) => {
      const [name = '', active, , size] = line.split(/\s+/);
      return caches.includes(name) ? sum + Number(active) * Number(size) : sum;
    }, 0);
  } catch {
    return Number.NaN;
  }
}

/** Handshakes that the kernel dropped because too many connections waited to be accepted. Their clients repeat them after 1 s. */
export function droppedHandshakes(): number {
  const lines = readFileSync('/proc/net/netstat', 'utf8').split('\n');
  const [names = [], counts = []] = lines
    .filter((line) => line.startsWith('TcpExt:'))
    .map((line) => line.split(' '));
  return Number(counts[names.indexOf('ListenOverflows')]);
}
