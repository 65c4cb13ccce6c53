import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { z } from 'zod'
import {
  type AccountSelector,
  addMember,
  asOperator,
  createAccount,
  createOrganisation,
  deleteAccount,
  removeMember,
} from '../../scripts/postgres/accounts.ts'
import {
  listAccounts,
  listKeys,
  listMembers,
  listOrganisations,
} from '../../scripts/postgres/lists.ts'
import { createTestDatabase, type TestDatabase } from '../support/servers/database.ts'
import { createProcesses, type Processes } from '../support/servers/processes.ts'

let database: TestDatabase
let processes: Processes
beforeAll(async () => {
  database = await createTestDatabase()
  processes = await createProcesses()
})
afterAll(async () => {
  await processes?.close()
  await database?.drop()
})

type Work<T> = Parameters<typeof asOperator<T>>[1]
const operator = <T>(work: Work<T>) => asOperator(database.adminUrl, work)

let counter = 0
function account() {
  counter += 1
  const email = `listed${counter}@example.com`
  return operator((client) =>
    createAccount(client, { email, plan: 'pro', scopes: ['read'], key_name: `Key ${counter}` }),
  )
}

/** An organisation whose member shares a zone and a channel. */
async function team() {
  const [owner, member] = [await account(), await account()]
  const { org_id } = await operator((client) =>
    createOrganisation(client, { name: 'Harbour', owner: { user: owner.user_id } }),
  )
  await operator((client) =>
    addMember(client, { org_id, user: member.user_id, role: 'member' } satisfies AccountSelector & {
      org_id: string
      role: 'member'
    }),
  )
  await database.query(
    `insert into watchpost.zones (owner_id, org_id, label, lat, lon, boxes)
    values ($1, $2, 'Shared', 41, 29, '{(29,41),(28,40)}')`,
    [member.user_id, org_id],
  )
  return { owner, member, org_id }
}

describe('an operator lists', () => {
  test('accounts and keys, and never a key or its hash', async () => {
    const [first, second] = [await account(), await account()]
    const { accounts } = await operator(listAccounts)
    expect(accounts.slice(0, 2)).toMatchObject([
      { email: second.email, plan: 'pro', keys: 1, zones: 0 },
      { email: first.email },
    ])
    const { keys } = await operator((client) => listKeys(client, { email: first.email }))
    expect(keys).toMatchObject([{ id: first.key_id, email: first.email, state: 'works' }])
    const all = await operator((client) => listKeys(client, {}))
    expect(all.keys.length).toBeGreaterThan(1)
    const text = JSON.stringify(all)
    expect(text).not.toContain(first.api_key)
    expect(Object.keys(all.keys[0] ?? {})).not.toContain('key_hash')
  })

  test('organisations and their members, the owner first', async () => {
    const { owner, member, org_id } = await team()
    const { organisations } = await operator(listOrganisations)
    expect(organisations).toContainEqual(
      expect.objectContaining({ id: org_id, name: 'Harbour', owner: owner.email, zones: 1 }),
    )
    const { members } = await operator((client) => listMembers(client, { org_id }))
    expect(members).toMatchObject([
      { email: owner.email, role: 'owner' },
      { email: member.email, role: 'member', state: 'active' },
    ])
    const unknown = '0b0f8a52-7f2f-4c7a-9f7e-3f3c2f0a1b2c'
    await expect(operator((client) => listMembers(client, { org_id: unknown }))).rejects.toThrow(
      `There is no organisation ${unknown}`,
    )
  })
})

describe('an operator removes', () => {
  test('a member, whose shared zones pass to the owner, but never the owner', async () => {
    const { owner, member, org_id } = await team()
    const removed = await operator((client) =>
      removeMember(client, { org_id, email: member.email.toUpperCase() }),
    )
    expect(removed).toMatchObject({ email: member.email, zones_passed_on: 1 })
    const zones = await database.query('select owner_id from watchpost.zones where org_id = $1', [
      org_id,
    ])
    expect(zones).toEqual([{ owner_id: owner.user_id }])
    await expect(
      operator((client) => removeMember(client, { org_id, email: owner.email })),
    ).rejects.toThrow('an owner cannot be removed')
    await expect(
      operator((client) => removeMember(client, { org_id, email: member.email })),
    ).rejects.toThrow('is not a member')
  })

  test('a member whose private channel a shared zone chose, and is warned as the API warns', async () => {
    const { owner, member, org_id } = await team()
    await database.query(
      `with private as (
        insert into watchpost.channels (owner_id, kind, target_sealed, target_masked)
        values ($1, 'webhook', 'sealed', 'https://…') returning id)
      update watchpost.zones z set channel_ids = array[private.id] from private where z.org_id = $2`,
      [member.user_id, org_id],
    )
    await database.query(
      `update watchpost.channels set enabled = false where owner_id = $1 or org_id = $2`,
      [owner.user_id, org_id],
    )
    const run = processes.run('scripts/admin.ts', [
      ...['org', 'remove', '--org', org_id, '--email', member.email],
      ...['--database-url', database.adminUrl],
    ])
    expect(await run.ended, run.stderr()).toBe(0)
    expect(run.stdout()).toMatch(/zones_passed_on +1\n/)
    expect(run.stdout()).toContain(
      'warnings:\n  Zone "Shared": No channel in channel_ids is left: each was deleted, or the owner',
    )
    expect(run.stdout()).toContain(
      '  Zone "Shared": No enabled channel gets the alerts of this zone',
    )
  })

  test('an account, once its address is repeated; its organisation passes on', async () => {
    const { owner, member, org_id } = await team()
    const ask = (confirm?: string) =>
      operator((client) => deleteAccount(client, { email: owner.email, confirm }))
    await expect(ask()).rejects.toThrow(`add --confirm ${owner.email}`)
    await expect(ask(member.email)).rejects.toThrow('0 zones, 0 channels and 1 keys')
    expect(await ask(owner.email)).toMatchObject({ user_id: owner.user_id, deleted: true })
    const left = await database.query(
      `select (select count(*)::integer from auth.users where id = $1) as people,
        (select count(*)::integer from watchpost.accounts where user_id = $1) as accounts,
        (select count(*)::integer from watchpost.api_keys where user_id = $1) as keys`,
      [owner.user_id],
    )
    expect(left).toEqual([{ people: 0, accounts: 0, keys: 0 }])
    const { members } = await operator((client) => listMembers(client, { org_id }))
    expect(members).toMatchObject([{ user_id: member.user_id, role: 'owner' }])
  })
})

test('the command prints a table, and the address of a page that signs in', async () => {
  const { email } = await account()
  const run = async (...args: string[]) => {
    const started = processes.run('scripts/admin.ts', [
      ...args,
      '--database-url',
      database.adminUrl,
    ])
    expect([await started.ended, started.stderr()]).toEqual([0, ''])
    return started.stdout()
  }
  const table = await run('account', 'list')
  expect(table).toMatch(/^user_id +email +plan/)
  expect(table).toContain(email)
  const link = await run(
    ...['account', 'link', '--email', email, '--json', '--public-url', 'https://watch.example/x/'],
  )
  const { url, token_hash } = z
    .looseObject({ url: z.string(), token_hash: z.string() })
    .parse(JSON.parse(link))
  expect(url).toBe(`https://watch.example/x/sign-in#${token_hash}`)
})
