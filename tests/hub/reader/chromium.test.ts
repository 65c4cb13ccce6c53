import { expect, test } from 'vitest'
import { findChromium, launchArguments } from '../../../hub/reader/chromium.ts'
import { openDeadEnd } from '../../../hub/reader/dead-end.ts'

test('the browser is the one that is named, if it can be run', async () => {
  expect(await findChromium({ HUB_CHROMIUM: process.execPath })).toBe(process.execPath)
  for (const HUB_CHROMIUM of ['', '/nowhere/chromium', import.meta.filename]) {
    expect(await findChromium({ HUB_CHROMIUM })).toBeUndefined()
  }
})

test('the browser has no way out but the dead end, and asks for nothing by itself', () => {
  const given = launchArguments('http://127.0.0.1:9')
  expect(given).toEqual(
    expect.arrayContaining([
      '--proxy-server=http://127.0.0.1:9',
      '--proxy-bypass-list=<-loopback>',
      '--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1',
      '--disable-quic',
      '--webrtc-ip-handling-policy=disable_non_proxied_udp',
      '--force-webrtc-ip-handling-policy=disable_non_proxied_udp',
    ]),
  )
  // What Chromium would fetch, look up or ask for without being told.
  for (const one of [
    'background-networking',
    'component-update',
    'domain-reliability',
    'sync',
    'gpu',
    'dev-shm-usage',
  ]) {
    expect(given).toContain(`--disable-${one}`)
  }
  for (const one of ['dns-prefetch-disable', 'no-first-run', 'no-pings', 'deny-permission-prompts'])
    expect(given).toContain(`--${one}`)
})

test('the dead end refuses every request, and forwards none', async () => {
  const answer = await fetch(await openDeadEnd())
  expect([answer.status, answer.headers.get('content-length'), await answer.text()]).toEqual([
    403,
    '0',
    '',
  ])
})
