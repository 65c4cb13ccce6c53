import { access, constants } from 'node:fs/promises'

const PLACES = [
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome-stable',
  '/usr/bin/google-chrome',
  '/snap/bin/chromium',
]

/** findChromium returns the path of Chromium; if it is undefined, no web page can be read. */
export async function findChromium(
  environment: Record<string, string | undefined> = process.env,
): Promise<string | undefined> {
  const given = environment.HUB_CHROMIUM
  for (const place of given === undefined ? PLACES : [given]) {
    const isThere = await access(place, constants.X_OK).then(
      () => true,
      () => false,
    )
    if (isThere) return place
  }
  return undefined
}

/**
 * launchArguments close every way out of Chromium. Everything it loads is supplied by interception;
 * its own network stack knows no names, and no route but a proxy that forwards nothing.
 */
export function launchArguments(deadEnd: string): string[] {
  return [
    `--proxy-server=${deadEnd}`,
    // By default Chromium bypasses a proxy for loopback and link-local addresses.
    '--proxy-bypass-list=<-loopback>',
    '--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1',
    '--disable-quic',
    '--force-webrtc-ip-handling-policy=disable_non_proxied_udp',
    '--webrtc-ip-handling-policy=disable_non_proxied_udp',
    '--dns-prefetch-disable',
    '--disable-background-networking',
    '--disable-component-update',
    '--disable-domain-reliability',
    '--disable-sync',
    '--disable-gpu',
    '--disable-dev-shm-usage',
    '--no-first-run',
    '--no-pings',
    '--deny-permission-prompts',
    '--renderer-process-limit=4',
  ]
}
