import { describe, expect, test } from 'vitest'
import {
  changedReadOnly,
  IfMatchHeader,
  requireReadOnly,
  requireVersion,
  wantedVersion,
} from '../../../functions/api/whole-thing.ts'

describe('If-Match', () => {
  test.each([
    ['3', 3],
    ['"3"', 3],
    ['W/"12"', 12],
    ['W/12', 12],
    ['123456789', 123456789],
    ['*', undefined],
  ])('%s wants the version %s', (given, version) => {
    expect(wantedVersion(IfMatchHeader.parse({ 'if-match': given }))).toBe(version)
  })

  test('may be left out', () => {
    expect(wantedVersion(IfMatchHeader.parse({}))).toBeUndefined()
  })

  test.each(['', 'x', '-1', '1.5', '3, 4', '1234567890', 'x3', '3x', 'w/"3"', '**', '""'])(
    '%j is refused',
    (given) => {
      const { error } = IfMatchHeader.safeParse({ 'if-match': given })
      expect(error?.issues).toMatchObject([
        {
          path: ['if-match'],
          message: 'Must be the version of the thing, as in If-Match: 3.',
        },
      ])
    },
  )

  test('of another version is refused with both', () => {
    expect(() => requireVersion(undefined, 3)).not.toThrow()
    expect(() => requireVersion(3, 3)).not.toThrow()
    for (const [wanted, version] of [
      [3, 4],
      [4, 3],
      [0, 1],
    ] as const) {
      expect(() => requireVersion(wanted, version)).toThrow(
        expect.objectContaining({
          code: 'version_mismatch',
          message: `This is version ${version}, not ${wanted}: it was changed in the meantime. Read it again and repeat the change.`,
        }),
      )
    }
  })
})

describe('what only the service sets', () => {
  const stored = { id: 'a', version: 3, tags: ['x', 'y'] }
  const NAMES = ['id', 'version', 'tags'] as const

  test.each<[Record<string, unknown>]>([
    [{}],
    [{ id: 'a' }],
    [{ id: undefined, tags: ['x', 'y'] }],
    [{ label: 'new' }],
    [stored],
  ])('may come back as it was, or not: %j', (patch) => {
    expect(changedReadOnly(patch, stored, NAMES)).toEqual([])
    expect(() => requireReadOnly(patch, stored, NAMES)).not.toThrow()
  })

  test('is refused field by field, each with both values', () => {
    const patch = { id: 'b', version: 3, tags: null }
    const issues = [
      {
        path: 'id',
        code: 'read_only',
        message: 'id is read-only: it is "a", not "b". Leave it out, or read it again.',
      },
      {
        path: 'tags',
        code: 'read_only',
        message: 'tags is read-only: it is ["x","y"], not null. Leave it out, or read it again.',
      },
    ]
    expect(changedReadOnly(patch, stored, NAMES)).toEqual(issues)
    expect(() => requireReadOnly(patch, stored, NAMES)).toThrow(
      expect.objectContaining({ code: 'invalid' }),
    )
  })

  test.each([
    ['x'.repeat(38), `"${'x'.repeat(38)}"`],
    ['x'.repeat(39), `"${'x'.repeat(39)}…`],
  ])('is cut after 40 characters: %s', (id, shown) => {
    const [issue] = changedReadOnly({ id: 'b' }, { ...stored, id }, NAMES)
    expect(issue?.message).toContain(`it is ${shown}, not "b".`)
  })
})
