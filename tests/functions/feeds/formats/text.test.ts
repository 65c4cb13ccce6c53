import { describe, expect, test } from 'vitest'
import {
  addressesIn,
  decodeText,
  hostAndPath,
  parseJson,
} from '../../../../functions/feeds/fetch.ts'

describe('decodeText', () => {
  const XML = '<?xml version="1.0" encoding="ISO-8859-1"?><a>é</a>'
  test.each([
    ['UTF-8', Buffer.from('é'), null, 'é'],
    ['UTF-8 with a mark', Buffer.from('\ufeffé'), null, 'é'],
    ['a mark that was encoded twice', Buffer.from('\u00ef\u00bb\u00bfé'), null, 'é'],
    ['UTF-16', Buffer.from('\ufeffé', 'utf16le'), null, 'é'],
    ['UTF-16, big end first', Buffer.from('\ufeffé', 'utf16le').swap16(), null, 'é'],
    [
      'the charset of the type',
      Buffer.from('é', 'latin1'),
      'text/plain; charset="windows-1252"',
      'é',
    ],
    ['the XML declaration', Buffer.from(XML, 'latin1'), 'text/xml', XML],
    ['the type before the declaration', Buffer.from(XML), 'text/xml; charset=utf-8', XML],
    ['a mark before all else', Buffer.from('\ufeffé'), 'text/plain; charset=latin1', 'é'],
    ['an encoding that does not exist', Buffer.from('é'), 'text/plain; charset=klingon', 'é'],
    ['bytes that are no UTF-8', Buffer.from([0x61, 0xff, 0x62]), null, 'a\ufffdb'],
    ['nothing', Buffer.from(''), null, ''],
    ['a mark in the middle', Buffer.from('a\ufeffb'), null, 'a\ufeffb'],
    ['two marks', Buffer.from('\ufeff\ufeff\u00ef\u00bb\u00bfé'), null, 'é'],
    ['a declaration after spaces', Buffer.from(`\n ${XML}`, 'latin1'), null, `\n ${XML}`],
    ['a declaration in a text', Buffer.from(`a, b ${XML}`), null, `a, b ${XML}`],
    [
      'what is a mark at the start only',
      Buffer.from('aÿþþÿ', 'latin1'),
      'x; charset=latin1',
      'aÿþþÿ',
    ],
  ])('%s', (_, bytes, type, text) => {
    expect(decodeText(bytes, type)).toBe(text)
  })
})

test.each([
  [undefined, []],
  ['', []],
  [
    ' https://a.test/,  https://b.test/\n\nhttps://a.test/ ,',
    ['https://a.test/', 'https://b.test/'],
  ],
])('the addresses of %j are %j', (setting, addresses) => {
  expect(addressesIn(setting)).toEqual(addresses)
})

test('an address is named without its query', () => {
  expect(hostAndPath('https://a.test:8443/b/c?key=secret#d')).toBe('a.test:8443/b/c')
})

test.each([
  ['<html>', 'answered with a web page'],
  ['\n  <html>', 'answered with a web page'],
  ['busy <b>now</b>', 'answered with something that is not JSON'],
  ['a<b>', 'answered with something that is not JSON'],
  ['', 'answered with something that is not JSON'],
])('instead of JSON, %j', (text, message) => {
  const failure = { code: 'not_json', message, cause: expect.any(SyntaxError) }
  expect(() => parseJson(text)).toThrow(expect.objectContaining(failure))
})
