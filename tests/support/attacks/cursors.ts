/**
 * Values that somebody may put into one field of a cursor: extremes, wrong types, and plausible
 * ones.
 */
const EXTREMES: unknown[] = [
  '0000-01-01T00:00:00Z',
  '0000-12-31T23:59:59.999Z',
  '0999-06-01T00:00:00Z',
  '9999-12-31T23:59:59.9999999Z',
  '+275760-09-13T00:00:00.000Z',
  '294277-01-01T00:00:00Z',
  '4714-11-24T00:00:00Z BC',
  '2026-02-30T00:00:00Z',
  '2026-01-01T24:00:00Z',
  '2026-01-01T00:00:00+99:99',
  '2026-01-01',
  'infinity',
  '-infinity',
  'now',
  'epoch',
  'NaN',
  'nil-uuid',
  '00000000-0000-0000-0000-00000000000g',
  "'; select 1 --",
  'a\u0000b',
  '\u{d800}',
  '\uffff'.repeat(300),
  'x'.repeat(1200),
  '',
  0,
  -0,
  -1,
  1.5,
  2 ** 31,
  2 ** 53,
  1e308,
  null,
  true,
  [],
  [['deep', [['deeper']]]],
  {},
  { $ne: null },
]
/** Values that JSON can express, but JSON.stringify cannot; inserted as they are written. */
const RAW = [
  '1e400',
  '-1e400',
  '-0',
  '"\\ud800"',
  '"\\u0000"',
  `${'['.repeat(400)}${']'.repeat(400)}`,
]

/** Every cursor that differs from a real one in one field, or in its number of fields. */
export function forgedCursors(cursor: string): string[] {
  const fields = JSON.parse(Buffer.from(cursor, 'base64url').toString()).map((field: unknown) =>
    JSON.stringify(field),
  ) as string[] // safe: a cursor is an array
  const values = [...EXTREMES.map((value) => JSON.stringify(value)), ...RAW]
  const written = fields.flatMap((_, at) =>
    values.map((value) => fields.map((field, index) => (index === at ? value : field))),
  )
  const others = [fields.slice(0, -1), [...fields, '"more"'], [...fields, ...fields]]
  return [
    ...[...written, ...others].map((list) => encode(`[${list.join(',')}]`)),
    ...['', '{', 'null', '{}', '[]', '"text"', '7', '\u0000'].map(encode),
    '%',
    cursor.slice(0, -3),
    `${cursor}${cursor}`,
  ].filter((forged) => forged !== cursor && forged.length <= 2000)
}

const encode = (text: string) => Buffer.from(text).toString('base64url')
