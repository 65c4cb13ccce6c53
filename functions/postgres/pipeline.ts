/**
 * Sends statements that are issued together as one message. `pg` alone ends each of them with a Sync, after
 * which Postgres commits or flushes and the client reads, and asks for the columns of each anew.
 */
import process from 'node:process'
import pg from 'pg'

// safe: pg exports its utils, which its types leave out
const { prepareValue } = (pg as unknown as { utils: { prepareValue: (value: unknown) => unknown } })
  .utils

/** What is read of a result. */
export type Result = Pick<pg.QueryResult, 'rows' | 'rowCount' | 'command'>
export type Statement = {
  text: string
  /** Of the prepared statement; undefined: it is parsed each time. */
  name?: string | undefined
  values: unknown[]
  has_rows?: false
}
type Types = { getTypeParser: (oid: number, format: 'text') => (text: string) => unknown }
/** How the rows of a statement are read. */
type Shape = {
  names: string[]
  parsers: ((text: string) => unknown)[]
  /** A row of nulls. */
  empty: Record<string, unknown>
}
type Issued = Statement & {
  result: Result
  shape: Shape | undefined
  error?: unknown
  resolve: (result: Result) => void
  reject: (error: unknown) => void
}

const NO_ROWS: Shape = { names: [], parsers: [], empty: {} }

let written: Uint8Array[] = []
const memory = { writable: true, write: (bytes: Uint8Array) => written.push(bytes) }
/** Writes the messages of `pg` into memory. */
const writer = new pg.Connection({ stream: memory as never }) // safe: it only ever writes there

function takeWritten(): Uint8Array {
  const all = written
  written = []
  return Buffer.concat(all)
}

/** The statements of one connection, which no other code may use meanwhile. */
export class Pipeline {
  readonly #client: pg.Client
  readonly #types: Types
  /** By its name, each statement that is prepared or being prepared, with its columns once it has run. */
  readonly #prepared = new Map<string, Shape | undefined>()
  /** Those whose answer has not begun or not ended, in their order. */
  readonly #sent: Group[] = []
  /** What leaves at the end of this turn. */
  #waiting: (() => void)[] = []
  #open: Issued[] | undefined

  constructor(client: pg.Client, types: Types) {
    this.#client = client
    this.#types = types
    client.connection.on('parseComplete', () => this.#sent[0]?.noteParsed())
  }

  /**
   * Sends a statement. Those of a transaction travel together until one is the last of it: when one fails, the
   * others up to there are not run.
   */
  send(statement: Statement, isLast: boolean): Promise<Result> {
    return new Promise((resolve, reject) => {
      const result: Result = { rows: [], rowCount: null, command: '' }
      const issued = { ...statement, result, shape: undefined, resolve, reject }
      const open = this.#open ?? []
      if (!this.#open) {
        this.#open = open
        this.#add(() => this.#sendGroup(open))
      }
      open.push(issued)
      // The socket of a Worker: what a pooler in between does with several statements at once is not known.
      if (isLast || !this.#canWait()) this.#open = undefined
    })
  }

  /** Sends a text of any number of statements in the simple way, in its turn. */
  sendSimple(text: string): Promise<Result> {
    this.#open = undefined
    return new Promise((resolve, reject) =>
      this.#add(() => void this.#client.query(text).then(resolve, reject)),
    )
  }

  #canWait(): boolean {
    return typeof this.#client.connection.stream.cork === 'function'
  }

  #add(send: () => void): void {
    const { stream } = this.#client.connection
    this.#waiting.push(send)
    if (this.#waiting.length > 1) return
    const sendAll = () => {
      const all = this.#waiting
      this.#waiting = []
      this.#open = undefined
      for (const each of all) each()
    }
    // Without `cork`, microtasks are the end of a turn.
    if (!this.#canWait()) {
      queueMicrotask(sendAll)
      return
    }
    process.nextTick(() => {
      stream.cork()
      sendAll()
      stream.uncork()
    })
  }

  #sendGroup(statements: Issued[]): void {
    const group = new Group(statements, this.#prepared, this.#types, () => {
      const at = this.#sent.indexOf(group)
      if (at >= 0) this.#sent.splice(at, 1)
    })
    this.#sent.push(group)
    // safe: pg takes its own queries as they are, which the type tells of others only
    this.#client.query(group as never)
  }
}

/** Statements with one Sync behind them, as `pg` sees it: a query. */
class Group extends pg.Query {
  readonly #statements: Issued[]
  readonly #prepared: Map<string, Shape | undefined>
  readonly #types: Types
  readonly #onEnd: () => void
  /** The names of those being parsed, in their order; empty for one without. */
  #parsing: string[] = []
  #at = 0
  /** Why the statements from this one on were never sent. */
  #unsent: { from: number; error: unknown } | undefined

  constructor(
    statements: Issued[],
    prepared: Map<string, Shape | undefined>,
    types: Types,
    onEnd: () => void,
  ) {
    super('')
    this.#statements = statements
    this.#prepared = prepared
    this.#types = types
    this.#onEnd = onEnd
  }

  override submit = ({ stream }: pg.Connection): null => {
    for (const [at, statement] of this.#statements.entries()) {
      try {
        this.#write(statement)
      } catch (error) {
        // A value that cannot be sent fails its statement like one that Postgres refuses.
        this.#unsent = { from: at, error }
        break
      }
    }
    writer.sync()
    const bytes = takeWritten()
    if (stream.writable) stream.write(bytes)
    return null
  }

  #write(issued: Issued): void {
    const { name = '', text } = issued
    const values = issued.values.map((value) => prepareValue(value))
    if (!this.#prepared.has(name)) {
      writer.parse({ name, text, types: [] }, true)
      this.#parsing.push(name)
      if (name) this.#prepared.set(name, undefined)
    }
    // safe: pg itself leaves out the rest, and the names of its types are not those it reads
    writer.bind({ statement: name, values } as never, true)
    issued.shape = issued.has_rows === false ? NO_ROWS : this.#prepared.get(name)
    if (!issued.shape) writer.describe({ type: 'P' } as never, true)
    writer.execute({}, true)
  }

  noteParsed(): void {
    this.#parsing.shift()
  }

  handleRowDescription({ fields }: { fields: { name: string; dataTypeID: number }[] }): void {
    const statement = this.#statements[this.#at]
    if (!statement) return
    const names = fields.map(({ name }) => name)
    statement.shape = {
      names,
      empty: Object.fromEntries(names.map((name) => [name, null])),
      parsers: fields.map(({ dataTypeID }) => this.#types.getTypeParser(dataTypeID, 'text')),
    }
  }

  handleDataRow({ fields }: { fields: (string | null)[] }): void {
    const statement = this.#statements[this.#at]
    if (!statement || statement.error !== undefined) return
    const { names, parsers, empty } = statement.shape ?? NO_ROWS
    try {
      // A pooler may have another version of the statement behind the same name.
      if (fields.length !== names.length) throw new Error('the columns of a statement have changed')
      const row = { ...empty }
      for (const [nr, name] of names.entries()) {
        const field = fields[nr] ?? null
        if (field !== null) row[name] = parsers[nr]?.(field)
      }
      statement.result.rows.push(row)
    } catch (error) {
      statement.error = error
    }
  }

  handleCommandComplete({ text }: { text: string }): void {
    const statement = this.#statements[this.#at]
    if (!statement) return
    const [command = '', ...counts] = text.split(' ')
    statement.result.command = command
    statement.result.rowCount = counts.length > 0 ? Number(counts.at(-1)) : null
    this.#endStatement(statement)
  }

  handleEmptyQuery(): void {
    const statement = this.#statements[this.#at]
    if (statement) this.#endStatement(statement)
  }

  #endStatement({ name, shape = NO_ROWS }: Issued): void {
    if (name && this.#prepared.has(name)) this.#prepared.set(name, shape)
    this.#at += 1
  }

  /** The statement at hand has failed, or the commit behind the last one. */
  handleError(error: unknown): void {
    const failed = Math.min(this.#at, this.#statements.length - 1)
    this.#end(failed, error)
  }

  handleReadyForQuery(): void {
    if (this.#unsent) this.#end(this.#unsent.from, this.#unsent.error)
    else this.#end(this.#statements.length, undefined)
  }

  #end(failed: number, error: unknown): void {
    this.#onEnd()
    for (const name of this.#parsing) this.#prepared.delete(name)
    for (const [at, statement] of this.#statements.entries()) {
      if (at === failed) statement.reject(error)
      else if (at > failed) statement.reject(skipped())
      else if (statement.error !== undefined) statement.reject(statement.error)
      else statement.resolve(statement.result)
    }
  }
}

/** What Postgres says of a statement behind a failed one; it does not even look at those before the next Sync. */
function skipped(): Error {
  const error = new pg.DatabaseError(
    'current transaction is aborted, commands ignored until end of transaction block',
    0,
    'error',
  )
  error.code = '25P02'
  return error
}
