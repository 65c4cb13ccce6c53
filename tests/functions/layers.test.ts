import { readdirSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import { describe, expect, test } from 'vitest'
import { ROOT, textOf } from '../support/pages.ts'

const sentence = textOf('docs/architecture.md').match(
  /((?:`\w+`(?: and )?)+) do not use the database/,
)
const SAID = [...(sentence?.[1] ?? '').matchAll(/\w+(?=`)/g)].map(([name]) => name)

describe('architecture.md says of the layers what is so:', () => {
  const DATABASE = ['functions/db.ts', 'functions/transaction.ts', 'shared/sql.ts', 'pg', 'pg-boss']

  test('which do not use the database', () => {
    expect(SAID).toEqual(['feeds', 'channels'])
  })

  test.each(SAID)('%s does not, also not through what it imports', (folder) => {
    const path = `functions/${folder}`
    const files = readdirSync(join(ROOT, path), { recursive: true, encoding: 'utf8' }).filter(
      (name) => name.endsWith('.ts'),
    )
    expect(files.length).toBeGreaterThan(3)
    const reached = new Set(files.map((name) => `${path}/${name}`))
    for (const file of reached) for (const name of importsOf(file)) reached.add(name)
    expect(DATABASE.filter((name) => reached.has(name))).toEqual([])
  })

  /** What a file imports, but for types: files of ours by their path, packages by their name. */
  const importsOf = (file: string) =>
    /\.ts$/.test(file)
      ? [...textOf(file).matchAll(/^(?:import|export)(?! type)[^'"]*?from '([^']+)'/gm)].map(
          ([, name = '']) =>
            name.startsWith('.') ? relative(ROOT, resolve(ROOT, dirname(file), name)) : name,
        )
      : []
})
