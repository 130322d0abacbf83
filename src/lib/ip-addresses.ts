// Sets of IP addresses, for the proxies that are trusted and the addresses that aren't proxied.

import { BlockList, isIP } from 'node:net';

/** Returns the addresses of a text such as `10.0.0.7`, `10.0.0.0/8` or `fd00::/8`; undefined if it has another form. */
export function parseIpRange(text: string): ((address: string) => boolean) | undefined {
  const [, address = '', bits] = /^([\da-f.:]+)(?:\/(\d{1,3}))?$/i.exec(text) ?? [];
  const length = isIP(address) === 6 ? 128 : 32;
  if (isIP(address) === 0 || Number(bits ?? 0) > length) {
    return undefined;
  }
  const list = new BlockList();
  list.addSubnet(address, Number(bits ?? length), familyOf(address));
  return (other) => isIP(other) !== 0 && list.check(other, familyOf(other));
}

const familyOf = (address: string): 'ipv4' | 'ipv6' => (isIP(address) === 6 ? 'ipv6' : 'ipv4');
