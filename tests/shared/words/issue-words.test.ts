import { expect, test } from 'vitest'
import { z } from 'zod'
import '../../../shared/words/issue-words.ts'

const sentenceOf = (schema: z.ZodType, value: unknown) =>
  schema.safeParse(value).error?.issues[0]?.message

const Tagged = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('a') }),
  z.object({ kind: z.literal('b') }),
])
const Digit = z.string().regex(/^\d$/)

test.each<[string, z.ZodType, unknown, string]>([
  ['a field that is missing', z.object({ a: z.string() }), {}, 'Required.'],
  ['a choice that is missing', z.object({ a: z.enum(['x', 'y']) }), {}, 'Required.'],
  ['what is no text', z.string(), 1, 'Must be a text.'],
  ['what is no number', z.number(), '1', 'Must be a number.'],
  ['what is no whole number', z.int(), 1.5, 'Must be a whole number.'],
  ['what is neither true nor false', z.boolean(), 'yes', 'Must be true or false.'],
  ['what is no list', z.array(z.string()), {}, 'Must be a list.'],
  ['what is no pair', z.tuple([z.string(), z.string()]), {}, 'Must be a list.'],
  ['what is no object', z.object({}), [], 'Must be an object.'],
  ['what is no record', z.record(z.string(), z.string()), 'x', 'Must be an object.'],
  ['what is not null', z.null(), 1, 'Must be null.'],
  ['what has no word of ours', z.date(), 1, 'Invalid input: expected date, received number'],
  ['none of a choice', z.enum(['x', 'y']), 'z', 'Must be one of "x", "y".'],
  ['another than the only one', z.literal('x'), 'z', 'Must be "x".'],
  ['another number than the only one', z.literal(1), 2, 'Must be 1.'],
  [
    'a time in other words',
    z.iso.datetime(),
    'now',
    'Must be a time in ISO 8601, as in 2026-03-01T12:00:00Z.',
  ],
  ['what is no day', z.iso.date(), 'today', 'Must be a day, as in 2026-03-01.'],
  ['what is no UUID', z.uuid(), 'x', 'Must be a UUID.'],
  ['what is no GUID', z.guid(), 'x', 'Must be a UUID.'],
  ['what is no address', z.email(), 'x', 'Must be an e-mail address.'],
  ['what is no URL', z.url(), 'x', 'Must be a URL, as in https://example.com/.'],
  ['another form', Digit, 'x', 'Invalid string: must match pattern /^\\d$/'],
  ['an empty text', z.string().min(1), '', 'Must not be empty.'],
  ['an empty list', z.array(z.string()).min(1), [], 'Must not be empty.'],
  ['a short text', z.string().min(2), 'x', 'Must have at least 2 characters.'],
  ['a long text', z.string().max(2), 'xxx', 'Must have at most 2 characters.'],
  ['a text of more than one', z.string().max(1), 'xx', 'Must have at most 1 character.'],
  ['a short list', z.array(z.int()).min(2), [1], 'Must have at least 2 entries.'],
  ['a long list', z.array(z.int()).max(2), [1, 2, 3], 'Must have at most 2 entries.'],
  ['a list of more than one', z.array(z.int()).max(1), [1, 2], 'Must have at most 1 entry.'],
  ['a small set', z.set(z.int()).min(2), new Set([1]), 'Must have at least 2 entries.'],
  [
    'a small map',
    z.map(z.int(), z.int()).min(2),
    new Map([[1, 1]]),
    'Must have at least 2 entries.',
  ],
  ['a small number', z.number().min(1), 0, 'Must be at least 1.'],
  ['a number at its lower bound', z.number().gt(1), 1, 'Must be more than 1.'],
  ['a large number', z.number().max(1), 2, 'Must be at most 1.'],
  ['a number at its upper bound', z.number().lt(1), 1, 'Must be less than 1.'],
  ['a number between', z.number().multipleOf(5), 7, 'Must be a multiple of 5.'],
  ['an unknown kind', Tagged, { kind: 'c' }, 'Must be one of "a", "b".'],
  ['what is of no kind', z.union([z.string(), z.int()]), true, 'Invalid input'],
  ['a field too many', z.strictObject({}), { x: 1 }, 'Unrecognized key: "x"'],
])('of %s it is said', (_, schema, value, sentence) => {
  expect(sentenceOf(schema, value)).toBe(sentence)
})
