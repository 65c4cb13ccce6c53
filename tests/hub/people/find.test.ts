import { expect, test } from 'vitest'
import { readablePage } from '../../../hub/people/find.ts'

/** What is between the headline and the end of the page. */
const bodyOf = (parts: Record<string, unknown>) =>
  /<\/h1>\n([\s\S]*)\n<\/body><\/html>\n$/.exec(readablePage('Person', parts))?.[1]

test.each<[what: string, value: unknown, html: string]>([
  ['a text', 'Tea & talk', '<p>Tea &amp; talk</p>'],
  ['nothing', null, '<p>null</p>'],
  ['a number', 0, '<p>0</p>'],
  ['a list', ['a', 'b'], '<p>a</p><p>b</p>'],
  ['an empty list', [], ''],
  [
    'an object, without what is empty',
    { name: 'Jo', note: '', phone: null, calls: 0, vip: false },
    '<dl><dt>name</dt><dd>Jo</dd><dt>calls</dt><dd>0</dd><dt>vip</dt><dd>false</dd></dl>',
  ],
  [
    'an object in an object',
    { lead: { tags: ['a', { b: 1 }] } },
    '<dl><dt>lead</dt><dd><dl><dt>tags</dt><dd><p>a</p><dl><dt>b</dt><dd>1</dd></dl></dd></dl></dd></dl>',
  ],
  [
    'markup',
    { '<i>': '<script>"x"</script>' },
    '<dl><dt>&lt;i&gt;</dt><dd>&lt;script&gt;&quot;x&quot;&lt;/script&gt;</dd></dl>',
  ],
])('the page to send to a person shows %s', (_, value, html) => {
  expect(bodyOf({ leads: value })).toBe(`<h2>leads</h2>${html}`)
})

test('the page names its parts and the person, whatever they are called', () => {
  const page = readablePage('<b>@x.example', { '<u>': 'x', mails: [] })
  expect(page).toContain('<title>&lt;b&gt;@x.example</title>')
  expect(page).toContain('<h1>&lt;b&gt;@x.example</h1>')
  expect(page).toContain('<meta charset="utf-8">')
  expect(bodyOf({ '<u>': 'x', mails: [] })).toBe('<h2>&lt;u&gt;</h2><p>x</p>\n<h2>mails</h2>')
})
