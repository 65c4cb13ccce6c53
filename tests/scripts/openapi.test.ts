import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { parse } from 'yaml'
import { render } from '../../scripts/build/openapi.ts'
import { breakingChanges } from '../../scripts/build/openapi-changes.ts'

const document = render()
const current = parse(document)

/** The document with one piece of its text replaced, as if it had been released so. */
function released(from: string, to: string): unknown {
  expect(document).toContain(from)
  return parse(document.replace(from, to))
}

test('docs/openapi.yaml is what the code says', () => {
  expect(readFileSync(new URL('../../docs/openapi.yaml', import.meta.url), 'utf8')).toBe(document)
})

test('a document is compatible with itself', () => {
  expect(breakingChanges(parse(document), current)).toEqual([])
})

test.each([
  [
    'an address',
    '  /api/v1/analytics:',
    '  /api/v1/numbers:',
    '/api/v1/numbers: the address is gone',
  ],
  [
    'a method',
    '  /api/v1/analytics:\n',
    '  /api/v1/analytics:\n    delete:\n      responses: {}\n',
    'DELETE /api/v1/analytics: the method is gone',
  ],
  [
    'a field of an answer',
    '        zone_name:\n          type: string\n',
    '        zone_name:\n          type: string\n        old_name:\n          type: string\n',
    'GET /api/v1/alerts 200 alerts: the field old_name is gone',
  ],
  [
    'a value of an enumeration',
    '            - suppressed\n',
    '            - suppressed\n            - lost\n',
    'GET /api/v1/alerts 200 alerts status: the value lost is gone',
  ],
  [
    'a parameter',
    '          name: updated_after\n',
    '          name: changed_after\n',
    'GET /api/v1/alerts: the parameter query parameter changed_after is gone',
  ],
  [
    'the freedom to leave a field out',
    '        - email\n      additionalProperties: false\n',
    '        - role\n      additionalProperties: false\n',
    'POST /api/v1/orgs/{id}/members body: email is required now',
  ],
  [
    'the certainty of a field',
    '        zone_name:\n          type: string\n',
    '        zone_name:\n          type: integer\n',
    'GET /api/v1/alerts 200 alerts zone_name: its type was integer, is string',
  ],
])('taking away %s is a breaking change', (_, now, before, sentence) => {
  expect(breakingChanges(released(now, before), current)).toContain(sentence)
})

test('adding an address, a field, a value and an optional parameter breaks nothing', () => {
  const before = structuredClone(current)
  delete before.paths['/api/v1/analytics']
  delete before.components.schemas.Alert.properties.note
  before.components.schemas.Alert.required = before.components.schemas.Alert.required.filter(
    (name: string) => name !== 'note',
  )
  before.components.schemas.EventType.enum.pop()
  before.paths['/api/v1/alerts'].get.parameters.pop()
  expect(breakingChanges(before, current)).toEqual([])
})
