import { createHash } from 'node:crypto'

/** A row of a result. */
type Row = Record<string, unknown>

/** A tagged template for a statement. Values become parameters; it resolves to the rows. */
export type Sql = <T = Row>(text: TemplateStringsArray, ...values: unknown[]) => Promise<T[]>

/** Runs a statement: a connection or client of `pg`. */
type Queryable = {
  query: (text: string, values?: unknown[]) => Promise<{ rows: unknown[] }>
}

/** Turns a template into text with $1, $2 … and its parameters. Values of `raw` become part of the text. */
function toStatement(
  text: TemplateStringsArray,
  values: unknown[],
): { text: string; values: unknown[] } {
  let out = text[0] ?? ''
  const parameters: unknown[] = []
  values.forEach((value, index) => {
    if (value instanceof Raw) {
      out += value.text
    } else {
      parameters.push(value)
      out += `$${parameters.length}`
    }
    out += text[index + 1] ?? ''
  })
  return { text: out, values: parameters }
}

class Raw {
  readonly text: string
  constructor(text: string) {
    this.text = text
  }
}

/** Text to insert into a statement as it is, e.g. a list of columns. Never for input. */
export const raw = (text: string) => new Raw(text)

/** The tagged template for a connection. */
export function sqlOn(connection: Queryable): Sql {
  return async <T>(text: TemplateStringsArray, ...values: unknown[]) => {
    const rendered = toStatement(text, values)
    const result = await connection.query(rendered.text, rendered.values)
    return result.rows as T[] // safe: each query names the columns of T, and tests run them all
  }
}

const names = new Map<string, string>()

/**
 * The name of a prepared statement, the same in every process: a connection parses each text only once. A
 * pooler may show one process what another has prepared, so a name must never stand for two texts.
 */
export function statementName(text: string): string {
  let name = names.get(text)
  if (!name) {
    name = `w${createHash('sha256').update(text).digest('hex').slice(0, 32)}`
    names.set(text, name)
  }
  return name
}

/**
 * Removes values from a data exception (SQLSTATE class 22): PostgreSQL quotes the refused value, and
 * callers' data must not be logged. Keeps the SQLSTATE and the routine; returns other errors unchanged.
 */
export function withoutValues(error: unknown): unknown {
  if (!(error instanceof Error) || !('code' in error) || !/^22/.test(String(error.code))) {
    return error
  }
  const frames = error.stack?.slice(error.stack.indexOf(error.message) + error.message.length)
  const routine = 'routine' in error ? `, ${error.routine}` : ''
  error.message = `PostgreSQL refused a value (SQLSTATE ${error.code}${routine})`
  error.stack = `${error.name}: ${error.message}${frames}`
  for (const name of ['detail', 'hint', 'where', 'internalQuery'])
    Reflect.deleteProperty(error, name)
  return error
}

/** COMMIT of a failed transaction answers ROLLBACK and raises nothing: that is a failure too. */
export function requireCommit({ command }: { command: string }): void {
  if (command !== 'COMMIT') throw new Error('the transaction was rolled back at commit')
}

/** Ends a failed transaction and gives the connection back, or throws it away when it is broken. */
export async function rollBack(
  connection: Queryable & { release: (broken?: boolean) => void },
): Promise<void> {
  try {
    await connection.query('rollback')
    connection.release()
  } catch {
    connection.release(true)
  }
}

type Parser = (text: string) => unknown

const PLAIN_TIME = /^(\d{4}-\d\d-\d\d) (\d\d:\d\d:\d\d)(?:\.(\d+))?\+00$/

/** A time as PostgreSQL writes it, in ISO 8601. Most are in UTC already, and `Date` would take ten times as long. */
function isoOf(text: string): string {
  const [, day, clock, fraction = ''] = PLAIN_TIME.exec(text) ?? []
  if (day === undefined) return new Date(text).toISOString()
  return `${day}T${clock}.${fraction.slice(0, 3).padEnd(3, '0')}Z`
}

/**
 * Times as the wire has them (ISO 8601 UTC, milliseconds), days as they are written, counts as
 * numbers; the rest as `pg` does, whose types are given.
 */
export function wireTypes<O extends number, F>(builtin: {
  builtins: { TIMESTAMPTZ: O; DATE: O; INT8: O }
  getTypeParser: (oid: O, format?: F) => Parser
}) {
  const { TIMESTAMPTZ, DATE, INT8 } = builtin.builtins
  return {
    getTypeParser: (oid: O, format?: F): Parser => {
      if (oid === TIMESTAMPTZ) return isoOf
      if (oid === DATE) return (text) => text
      if (oid === INT8) return Number
      return builtin.getTypeParser(oid, format)
    },
  }
}
