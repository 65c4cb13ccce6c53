import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { isFeedError } from '../../../../functions/feeds/feed.ts'
import {
  childOf,
  childrenOf,
  localName,
  parseXml,
  textOf,
} from '../../../../functions/feeds/formats/xml.ts'

const CAP = `<?xml version="1.0" encoding="UTF-8"?>
<!-- a comment -->
<cap:alert xmlns:cap="urn:oasis:names:tc:emergency:cap:1.2">
  <cap:identifier> A&amp;B&#233; </cap:identifier>
  <cap:info lang="en"><cap:event><![CDATA[Wind <strong>]]></cap:event></cap:info>
  <cap:info lang="fr"/>
</cap:alert>`

describe('parseXml', () => {
  test('gives elements with their attributes and text', () => {
    const root = parseXml(CAP)
    expect(root.name).toBe('cap:alert')
    expect(localName(root)).toBe('alert')
    expect(textOf(root, 'identifier')).toBe('A&Bé')
    expect(textOf(root, 'info', 'event')).toBe('Wind <strong>')
    expect(childrenOf(root, 'info').map(({ attributes }) => attributes.lang)).toEqual(['en', 'fr'])
    expect(textOf(root, 'info', 'nothing')).toBeUndefined()
    expect(childOf(root)).toBe(root)
  })

  test('a name without a prefix means the element without one, if there is one', () => {
    const root = parseXml('<item><media:title>other</media:title><title>own</title></item>')
    expect(textOf(root, 'title')).toBe('own')
    expect(textOf(root, 'media:title')).toBe('other')
    expect(textOf(root, 'geo:title')).toBeUndefined()
  })

  test('joins the text of an element, without that of those inside it', () => {
    const root = parseXml('<a> one <b>two</b><![CDATA[three]]> </a>')
    expect(root.text).toBe('one three')
    expect(localName(root)).toBe('a')
  })

  test('gives what lies 64 elements deep', () => {
    const root = parseXml(`${'<a>'.repeat(63)}<b>deep</b>${'</a>'.repeat(63)}`)
    expect(textOf(root, ...Array(62).fill('a'), 'b')).toBe('deep')
  })

  test.each([
    ['', 'not well-formed'],
    ['no XML', 'not well-formed'],
    ['<a><b></a>', 'not well-formed'],
    ['<a>', 'not well-formed'],
    ['<a/><b/>', 'not well-formed'],
    ['<a>&unknown;</a>', 'not well-formed'],
    ['<!DOCTYPE html><html></html>', 'document type'],
    ['<!DOCTYPE a [<!ENTITY b "c"><!ENTITY d "&b;&b;">]><a>&d;</a>', 'document type'],
    [`${'<a>'.repeat(65)}${'</a>'.repeat(65)}`, 'too many elements'],
    [`<a>${'<b/>'.repeat(500_001)}</a>`, 'too many elements'],
  ])('refuses %.60s', (text, why) => {
    expect(() => parseXml(text)).toThrow(
      expect.objectContaining({ code: 'unreadable', message: expect.stringContaining(why) }),
    )
  })

  test('fails with nothing but a FeedError, wherever a document is cut or changed', () => {
    fc.assert(
      fc.property(fc.nat(CAP.length), fc.nat(20), fc.string(), (from, length, put) => {
        try {
          parseXml(CAP.slice(0, from) + put + CAP.slice(from + length))
        } catch (error) {
          expect(isFeedError(error)).toBe(true)
        }
      }),
    )
  })
})
