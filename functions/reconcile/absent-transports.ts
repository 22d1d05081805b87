/**
 * Stands in the bundle for the HTTP client and the proxies that the Kubernetes library brings along: two fifths of the
 * bundle and of its cold load, for calls that are never made.
 *
 * The library is asked for address, trust and credentials only; requests are ours, go through Node's own HTTPS and reach
 * clusters directly. Whatever would be used after all says what is missing.
 */

const absent = (): never => {
  throw new Error('reconcile is bundled without undici and proxies: it reaches clusters through node:https, directly');
};

class Absent {
  constructor() {
    absent();
  }
}

export {
  Absent as Agent,
  Absent as HttpProxyAgent,
  Absent as HttpsProxyAgent,
  Absent as ProxyAgent,
  Absent as SocksClient,
  Absent as SocksProxyAgent,
  absent as fetch,
};
