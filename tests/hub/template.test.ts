import { describe, expect, test } from 'vitest'
import { fillTemplate, namesIn, type Value } from '../../hub/template.ts'

const shout = (text: string) => text.toUpperCase()
const fill = (source: string, values: { [name: string]: Value }, parts = {}) =>
  fillTemplate(source, values, {
    encode: shout,
    partial: (name) => (parts as Record<string, string>)[name] ?? '',
  })

describe('a template', () => {
  test.each<[string, { [name: string]: Value }, string]>([
    ['a {{b}}', { b: 'c' }, 'a C'],
    ['{{b.c}} {{n}}', { b: { c: 'd' }, n: 3 }, 'D 3'],
    ['{{{b}}}{{&b}}', { b: 'c' }, 'CC'],
    ['{{b}}', { b: '{{n}}', n: 'never' }, '{{N}}'],
    ['{{#list}}({{.}}){{/list}}{{^list}}none{{/list}}', { list: ['a', 'b'] }, '(A)(B)'],
    ['{{#list}}({{.}}){{/list}}{{^list}}none{{/list}}', { list: [] }, 'none'],
    ['{{#group}}{{a}}{{out}}{{/group}}', { group: { a: 'x' }, out: 'y' }, 'XY'],
    ['{{#none}}x{{/none}}', { none: null }, ''],
    ['{{#none}}x{{/none}}', {}, ''],
    ['<{{>part}}>', { b: 'c' }, '<B: C>'],
  ])('%j with %j is %j', (source, values, expected) => {
    expect(fill(source, values, { part: 'B: {{b}}' })).toBe(expected)
  })

  test.each<[string, { [name: string]: Value }]>([
    ['{{gone}}', {}],
    ['{{{gone}}}', {}],
    ['{{gone}}', { gone: null }],
    ['{{group}}', { group: { a: 'b' } }],
    ['{{constructor}}', {}],
    ['{{#list}}{{gone}}{{/list}}', { list: ['a'] }],
  ])('%j with %j is refused: it has no text', (source, values) => {
    expect(() => fill(source, values)).toThrow(/has no text/)
  })

  test('names what it asks for', () => {
    expect(namesIn('{{b}} {{#a}}{{c.d}} {{b}}{{/a}}{{! a remark }}')).toEqual(['a', 'b', 'c.d'])
    expect(namesIn('{"plain": {"text": 1}}')).toEqual([])
    expect(() => namesIn('{{open')).toThrow(/Unclosed/)
  })
})
