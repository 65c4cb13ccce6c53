type Query = <Row extends object>(sql: string) => Promise<Row[]>

const listed = (names: string[]) => names.map((name) => `'${name}'`).join(', ')

/** Values of texts in both languages at the edges of what they may be. */
export const WORDS = [
  ...[`'{}'`, `'{"en": "x"}'`, `'{"en": 1, "tr": "x"}'`, `'{"en": "x", "tr": 1}'`],
  ...[2000, 2001].map((n) => `jsonb_build_object('en', repeat('x', ${n}), 'tr', 'x')`),
  ...[2000, 2001].map((n) => `jsonb_build_object('tr', repeat('x', ${n}), 'en', 'x')`),
]

const KINDS: Record<string, string> = {
  ...{ text: 'text', bytea: 'bytes', 'text[]': 'texts', 'timestamp with time zone': 'time' },
  ...{ integer: 'number', bigint: 'number', smallint: 'number', real: 'number' },
  'double precision': 'number',
}
const TIMES = [`now() - interval '1 day'`, 'now()']

/**
 * Values at the edges that a check draws, in SQL: no value, the words that it names and words beside them, and what is
 * as long or as large as its numbers, and one more or less.
 */
function candidates(type: string, check: string, columns: number): string[] {
  const kind = KINDS[type]
  if (kind === 'time') return ['null', ...TIMES]
  const named = [...check.matchAll(/(?<![\w.'$])\d+(?:\.\d+)?(?![\w.'])/g)].map(([digits]) =>
    Number(digits),
  )
  const few = columns > 1 ? [0, 1] : [0, 1, 2, ...named.flatMap((n) => [n - 1, n, n + 1])]
  const numbers = [...new Set(few)].filter((n) => n >= 0 && n <= 200_000).sort((a, b) => a - b)
  const words = [...new Set([...check.matchAll(/'([\w. -]+)'::text/g)].map(([, word]) => word))]
  switch (kind) {
    case 'text':
      return [
        'null',
        ...numbers.map((n) => `repeat('x', ${n})`),
        ...words.flatMap((word) => [`'${word}'`, `'x${word}'`, `'${word}x'`]),
      ]
    case 'number':
      return ['null', ...numbers.toReversed().map((n) => `-${n}`), ...numbers.map(String)]
    case 'bytes':
      return ['null', ...numbers.map((n) => `decode(repeat('00', ${n}), 'hex')`)]
    case 'texts':
      return [
        ...['null', `'{}'`, `'{x}'`],
        ...words.flatMap((word) => [`'{${word}}'`, `'{${word},x}'`]),
        ...numbers.map((n) => `array_fill('${words[0] ?? 'x'}'::text, array[${n}])`),
      ]
    default:
      return ['null']
  }
}

/** Each check of the schemas and the values at its edges that it takes: a line with its name, one with the values. */
export async function takenByChecks(query: Query, schemas: string[]): Promise<string[]> {
  const checks = await query<{ name: string; check: string; columns: string[]; types: string[] }>(
    `select c.conrelid::regclass || '.' || c.conname as name, pg_get_expr(c.conbin, c.conrelid) as check,
       array_agg(a.attname::text order by a.attnum) as columns,
       array_agg(format_type(a.atttypid, null) order by a.attnum) as types
     from pg_catalog.pg_constraint as c
     join pg_catalog.pg_attribute as a on a.attrelid = c.conrelid and a.attnum = any(c.conkey)
     where c.contype = 'c' and c.connamespace::regnamespace::text in (${listed(schemas)})
       and not exists (
         select from pg_catalog.pg_class as t where t.oid = c.conrelid and t.relispartition)
     group by c.oid order by 1`,
  )
  const lines: string[] = []
  for (const { name, check, columns, types } of checks) {
    const given = columns.map((column, at) => {
      const values = candidates(types[at] ?? '', check, columns.length)
      const list = values.map((value) => `($q$${value}$q$, (${value})::${types[at]})`).join(', ')
      return `(values ${list}) as v${at} (said${at}, ${column})`
    })
    const said = columns.map((_, at) => `said${at}`).join(` || ', ' || `)
    const [row] = await query<{ taken: string | null }>(
      `select string_agg(said, ' | ' order by nr) as taken from (
         select ${said} as said, row_number() over () as nr from ${given.join(', ')}
         where coalesce(${check}, true)) taken`,
    )
    lines.push(`${name}\n  ${row?.taken}\n`)
  }
  return lines
}

/** Each column of the schemas that has a default, with it. */
export async function defaultsOf(query: Query, schemas: string[]): Promise<string[]> {
  const rows = await query<{ line: string }>(
    `select d.adrelid::regclass || '.' || a.attname || ': ' || pg_get_expr(d.adbin, d.adrelid) as line
     from pg_catalog.pg_attrdef as d
     join pg_catalog.pg_class as t on t.oid = d.adrelid and not t.relispartition
     join pg_catalog.pg_attribute as a on a.attrelid = d.adrelid and a.attnum = d.adnum
     where t.relnamespace::regnamespace::text in (${listed(schemas)})
     order by 1`,
  )
  return rows.map(({ line }) => `${line}\n`)
}
