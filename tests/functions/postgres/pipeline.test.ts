import { Socket } from 'node:net'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import { type Connection, createPool, sqlState } from '../../../functions/db.ts'
import { createTestDatabase, type TestDatabase } from '../../support/servers/database.ts'

let database: TestDatabase
let pool: ReturnType<typeof createPool>
let connection: Connection
const problems: string[] = []
/** The types of the messages that were sent, in their order, and how often something was written. */
let sent = { messages: '', writes: 0 }

beforeAll(async () => {
  database = await createTestDatabase()
  const { port } = new URL(database.jobsUrl)
  const write = Socket.prototype.write
  vi.spyOn(Socket.prototype, 'write').mockImplementation(function (this: Socket, ...given) {
    // safe: pg writes bytes
    if (this.remotePort === Number(port)) note(given[0] as unknown as Buffer)
    return write.apply(this, given as never) // safe: what it was called with
  })
})
afterAll(async () => {
  vi.restoreAllMocks()
  await database.drop()
})
beforeEach(async () => {
  problems.length = 0
  pool = createPool({
    url: database.jobsUrl,
    max: 1,
    on_error: ({ message }) => problems.push(message),
  })
  connection = await pool.connect()
  sent = { messages: '', writes: 0 }
})
afterEach(async () => {
  connection.release()
  await pool.end()
  expect(problems).toEqual([])
})

function note(bytes: Buffer): void {
  sent.writes += 1
  for (let at = 0; at < bytes.length; at += 1 + bytes.readInt32BE(at + 1)) {
    sent.messages += String.fromCharCode(bytes[at] ?? 0)
  }
}

function ask(text: string, values: unknown[] = []): Promise<unknown[]> {
  return connection.query(text, values).then(({ rows }) => rows)
}

/** What became of statements that were issued together: their rows, or the SQLSTATE of their error. */
async function outcomes(statements: [text: string, values?: unknown[]][]) {
  const issued = statements.map(([text, values]) => connection.query(text, values))
  const settled = await Promise.allSettled(issued)
  return settled.map((each) =>
    each.status === 'fulfilled' ? each.value.rows : (sqlState(each.reason) ?? String(each.reason)),
  )
}

const inTransaction = (...inside: [string, unknown[]?][]) =>
  outcomes([['begin'], ...inside, ['commit']])

test('a transaction is one write that ends with one Sync, and asks for columns only at first', async () => {
  const select = () =>
    inTransaction(['select $1::int as n', [1]], ['select $1::text as t', ['two']])
  const expected = [[], [{ n: 1 }], [{ t: 'two' }], []]
  expect(await select()).toEqual(expected)
  // Parse, Bind, Describe, Execute; what begins and ends a transaction is never prepared.
  expect(sent).toEqual({ messages: 'PBEPBDEPBDEPBES', writes: 1 })
  sent = { messages: '', writes: 0 }
  expect(await select()).toEqual(expected)
  expect(sent).toEqual({ messages: 'PBEBEBEPBES', writes: 1 })
})

test('what is no part of a transaction ends with a Sync of its own, and is committed by itself', async () => {
  const [alone, , inside] = await outcomes([
    ['select pg_current_xact_id()::text as id', []],
    ['begin'],
    ['select pg_current_xact_id()::text as id', []],
    ['rollback'],
  ])
  expect(sent.messages).toBe('PBDESPBEBDEPBES')
  expect(alone).not.toEqual(inside)
})

test('a result has its rows, how many they are, and what was done', async () => {
  const made = await connection.query(
    'select n, null as nothing from generate_series(1, $1::int) n',
    [2],
  )
  expect(made).toEqual({
    rows: [
      { n: 1, nothing: null },
      { n: 2, nothing: null },
    ],
    rowCount: 2,
    command: 'SELECT',
  })
  const { command } = await connection.query('begin')
  expect(command).toBe('BEGIN')
  expect(await connection.query('rollback')).toMatchObject({ command: 'ROLLBACK', rowCount: null })
})

describe('when a statement fails', () => {
  test('those before it are answered, those behind it and the commit are not run', async () => {
    await ask('create temp table made (n int)')
    expect(
      await inTransaction(
        ['insert into made values ($1)', [1]],
        ['select 1 / $1::int', [0]],
        ['insert into made values ($1)', [2]],
      ),
    ).toEqual([[], [], '22012', '25P02', '25P02'])
    // The transaction is open still, as after any error.
    expect(await outcomes([['select 1', []]])).toEqual(['25P02'])
    await connection.query('rollback')
    expect(await ask('select n from made')).toEqual([])
  })

  test('the next group is not touched', async () => {
    expect(
      await outcomes([
        ['select 1 / $1::int as n', [0]],
        ['select 2 / $1::int as n', [1]],
      ]),
    ).toEqual(['22012', [{ n: 2 }]])
  })

  test('a statement that was never parsed is parsed when it is asked for again', async () => {
    const text = 'select count(*)::int as n from later'
    expect(await inTransaction(['select 1 / $1::int', [0]], [text, []])).toMatchObject({
      2: '25P02',
    })
    await connection.query('rollback')
    expect(await outcomes([[text, []]])).toEqual(['42P01'])
    await ask('create temp table later ()')
    expect(await ask(text)).toEqual([{ n: 0 }])
  })

  test('a value that cannot be sent fails its statement and what is behind it, and the rest is answered', async () => {
    const unsendable = {
      toPostgres: () => {
        throw new Error('no such value')
      },
    }
    expect(
      await inTransaction(
        ['select $1::int as n', [1]],
        ['select $1::text', [unsendable]],
        ['select 2', []],
      ),
    ).toEqual([[], [{ n: 1 }], 'Error: no such value', '25P02', '25P02'])
    await connection.query('rollback')
    expect(await ask('select 3 as n')).toEqual([{ n: 3 }])
  })

  test('a value that cannot be read fails its statement alone', async () => {
    expect(
      await inTransaction(
        [`select 'infinity'::timestamptz as never where $1`, [true]],
        ['select 1 as n where $1', [true]],
      ),
    ).toEqual([[], 'RangeError: Invalid time value', [{ n: 1 }], []])
  })
})

test('a statement without any words has no rows, and the next is answered as its own', async () => {
  expect(await inTransaction(['', []], ['select $1::int as n', [1]])).toEqual([
    ...[[], [], [{ n: 1 }], []],
  ])
  expect(await inTransaction(['-- nothing', []])).toEqual([[], [], []])
})

test('the same statement issued twice at once is parsed once', async () => {
  expect(
    await outcomes([
      ['select $1::int as n', [1]],
      ['select $1::int as n', [2]],
    ]),
  ).toEqual([[{ n: 1 }], [{ n: 2 }]])
  expect(sent.messages).toBe('PBDESBDES')
})

test('several statements in one text run in their turn', async () => {
  await ask('create temp table steps (id int generated always as identity, n int)')
  await Promise.all([
    connection.query('begin'),
    ask('insert into steps (n) values ($1)', [1]),
    connection.query('insert into steps (n) values (2); insert into steps (n) values (3)'),
    ask('insert into steps (n) values ($1)', [4]),
    connection.query('commit'),
  ])
  expect(await ask('select n from steps order by id')).toEqual([1, 2, 3, 4].map((n) => ({ n })))
})

test('rows that do not have the known columns are an error, never read as others', async () => {
  const text = 'select $1::int as first'
  expect(await ask(text, [1])).toEqual([{ first: 1 }])
  const [found] = await ask(
    `select name from pg_prepared_statements where statement = 'select $1::int as first'`,
  )
  const { name } = found as { name: string } // safe: the column of that query
  // As a pooler may do it behind the back of a client.
  await connection.query(`deallocate "${name}"; prepare "${name}"(int) as select 7, $1`)
  await expect(ask(text, [1])).rejects.toThrow('the columns of a statement have changed')
})
