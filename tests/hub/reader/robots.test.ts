import { expect, test } from 'vitest'
import { EVERYTHING, rulesOf, UNREAD } from '../../../hub/reader/robots.ts'

const SITE = 'https://demir.example'
const rules = (text: string) => rulesOf(`${SITE}/robots.txt`, text)
const judge = (text: string, path = '/a') => rules(text).judge(`${SITE}${path}`)

test.each([
  ['for everybody', 'User-agent: *\nDisallow: /a', 'no'],
  ['for us by name', 'User-agent: WatchpostHub\nDisallow: /a', 'no'],
  ['for us with a version', 'User-agent: watchposthub/1.0\nDisallow: /a', 'no'],
  ['for others', 'User-agent: Other\nDisallow: /a', 'yes'],
  ['for a name that ours begins', 'User-agent: WatchpostHubs\nDisallow: /a', 'yes'],
  ['for us and for others', 'User-agent: *\nUser-agent: Other\nDisallow: /a', 'no'],
  [
    'for others after those for us',
    'User-agent: *\nDisallow: /b\nUser-agent: Other\nDisallow: /a',
    'yes',
  ],
  [
    'for us after those for others',
    'User-agent: Other\nDisallow: /b\nUser-agent: *\nDisallow: /a',
    'no',
  ],
  [
    'for us, whatever those for everybody are',
    'User-agent: *\nDisallow: /a\nUser-agent: WatchpostHub\nDisallow: /b',
    'yes',
  ],
  ['for nobody', 'Disallow: /a', 'yes'],
  ['in a second rule', 'User-agent: *\nDisallow: /b\nDisallow: /a', 'no'],
  ['after an empty line', 'User-agent: *\n\nDisallow: /a', 'no'],
  ['after an unknown field', 'User-agent: *\nSitemap: https://x.example/\nDisallow: /a', 'no'],
  [
    'between names, which they do not divide',
    'User-agent: *\nHost: x\nUser-agent: Other\nDisallow: /a',
    'no',
  ],
  ['with other spaces and letters', ' USER-AGENT : *\n\tdisallow :/a  # not this', 'no'],
  ['behind a comment', 'User-agent: * # all\nDisallow: # /a', 'yes'],
  ['with the line ends of Windows', 'User-agent: *\r\nDisallow: /a\r\n', 'no'],
  ['with those of old Macs', 'User-agent: *\rDisallow: /a\r', 'no'],
  ['that are taken back', 'User-agent: *\nDisallow: /\nAllow: /a', 'yes'],
  ['that are a comment', 'User-agent: *\n#Disallow: /a', 'yes'],
  ['of a field that only begins like one', 'User-agent: *\nDisallowed: /a', 'yes'],
  ['of a field that only ends like one', 'User-agent: *\nx-allow: /\nx-disallow: /a', 'yes'],
])('rules %s', (_, text, verdict) => {
  expect(judge(text)).toBe(verdict)
})

test.each([
  ['', 0],
  ['User-agent: *\nCrawl-delay: 3', 3000],
  ['User-agent: *\nCrawl-delay: 0.5', 500],
  ['User-agent: *\nCrawl-delay: 20', 20_000],
  ['User-agent: *\nCrawl-delay: 21', 20_000],
  ['User-agent: *\nCrawl-delay: -3', 0],
  ['User-agent: *\nCrawl-delay: soon', 0],
  ['User-agent: Other\nCrawl-delay: 3', 0],
])('the pause between pages by %j is %i ms', (text, pause_ms) => {
  expect(rules(text).pause_ms).toBe(pause_ms)
})

test('rules that take more than 20 million steps for an address leave it unread', () => {
  const path = `/${'b'.repeat(4000 - SITE.length - 1)}`
  const wild = (length: number) => `Disallow: /z*${'a'.repeat(length - 3)}`
  const ours = (...lines: string[]) => judge(['User-agent: *', ...lines].join('\n'), path)
  expect(ours(wild(5000))).toBe('yes')
  expect(ours(wild(5001))).toBe('unknown')
  expect(ours(wild(2500), wild(2501))).toBe('unknown')
  expect(ours(`Disallow: /z${'a'.repeat(9000)}`)).toBe('yes')
  expect(ours('User-agent: Other', 'Disallow: /', 'User-agent: Third', wild(9000))).toBe('no')
  expect(judge(`User-agent: Other\n${wild(9000)}`, path)).toBe('yes')
})

test('a site without rules is read without a pause, one whose rules are unread is not', () => {
  expect([EVERYTHING.judge(`${SITE}/`), EVERYTHING.pause_ms]).toEqual(['yes', 0])
  expect([UNREAD.judge(`${SITE}/`), UNREAD.pause_ms]).toEqual(['unknown', 0])
})
