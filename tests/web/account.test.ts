import { afterAll, beforeAll, expect, test } from 'vitest'
import { eventually, expectClean } from '../hub/web/browser.ts'
import type { Person } from '../support/service.ts'
import { makeZone, type ServedConsole, serveConsole } from './console.ts'

const PLACE = { lat: 41, lon: 29 }
let at: ServedConsole
let owner: Person
let guest: Person

beforeAll(async () => {
  at = await serveConsole()
  owner = await at.service.person()
  guest = await at.service.person()
})
afterAll(() => at?.close())

test('a key is made, works with its scopes until its last day, is revoked by name, and is refused', async () => {
  const opened = await at.visit(owner, '/#/account/keys')
  const { page } = opened
  await page.getByRole('button', { name: 'Make a key' }).first().click()
  await page.getByLabel('What is it for?').fill('Night shift')
  await page.getByLabel('It works until').fill('2000-01-01')
  await page.getByRole('dialog').getByRole('button', { name: 'Make a key' }).click()
  await eventually(() => page.getByLabel('It works until').getAttribute('aria-invalid')).toBe(
    'true',
  )
  await page.getByLabel('It works until').fill('2099-12-31')
  await page.getByRole('dialog').getByRole('button', { name: 'Make a key' }).click()
  const key = await page.getByRole('textbox', { name: 'Key' }).inputValue()
  await page.getByRole('button', { name: 'I have kept it' }).click()
  const ask = (method: string, body?: object) =>
    at.service.request(method, '/api/v1/zones', { key, body })
  expect((await ask('GET')).status).toBe(200)
  const zone = { label: 'Not allowed', ...PLACE }
  expect((await ask('POST', zone)).body).toMatchObject({ code: 'insufficient_scope' })

  const line = page.getByRole('listitem').filter({ hasText: 'Night shift' })
  await line.getByRole('button', { name: 'Revoke' }).click()
  const revoke = page.getByRole('dialog').getByRole('button', { name: 'Revoke' })
  expect(await revoke.isDisabled()).toBe(true)
  await page.getByLabel('Type Night shift').fill('Night shift')
  await revoke.click()
  await page.getByText('Night shift is revoked.').waitFor()
  await line.getByText('Revoked').waitFor()
  expect((await ask('GET')).status).toBe(401)
  expectClean(opened)
})

test('a member who is invited sees the shared zone and not the private one, until removed', async () => {
  const opened = await at.visit(owner, '/#/account/orgs')
  const { page } = opened
  await page.getByLabel('Name').fill('Port operations')
  await page.getByRole('button', { name: 'Make an organisation' }).click()
  await page.getByRole('heading', { name: 'Port operations' }).waitFor()
  await page.getByLabel('E-mail').fill(guest.email)
  await page.getByRole('button', { name: 'Invite', exact: true }).click()
  const url = await page.getByLabel('Invite link').inputValue()
  const org_id = page.url().split('/').at(-1)
  await makeZone(at, owner, { label: 'Private bay', ...PLACE })
  const shared = await makeZone(at, owner, { label: 'Shared harbour', ...PLACE, org_id })

  const other = await at.visit(guest, '/#/account')
  await other.page.getByText('You are invited to Port operations').waitFor()
  await other.page.goto(url)
  await other.page.getByRole('link', { name: 'Accept the invite in the console' }).click()
  await other.page.getByRole('button', { name: 'Accept the invite' }).click()
  await other.page.getByRole('heading', { name: 'Port operations' }).waitFor()
  expect(await other.page.getByRole('button', { name: 'Invite', exact: true }).count()).toBe(0)
  await other.page.getByRole('link', { name: 'Zones' }).click()
  await other.page.getByRole('link', { name: /Shared harbour/ }).waitFor()
  expect(await other.page.getByRole('link', { name: /Private bay/ }).count()).toBe(0)
  await other.page.getByRole('link', { name: /Shared harbour/ }).click()
  await other.page.getByText('Only its owner and the admins of its organisation').waitFor()
  const save = other.page.getByRole('button', { name: 'Save' })
  expect(await save.isDisabled()).toBe(true)
  expect(await other.page.getByRole('button', { name: 'Delete' }).count()).toBe(0)

  await page.reload()
  await page.getByLabel(`Role of ${guest.email}`).selectOption('admin')
  await eventually(async () => {
    const members = await at.service.database.query(
      'select role from watchpost.members where user_id = $1',
      [guest.user_id],
    )
    return members[0]?.role
  }).toBe('admin')
  await other.page.reload()
  await eventually(() => save.isDisabled()).toBe(false)
  await other.page.getByRole('button', { name: 'Delete' }).waitFor()
  await other.page.goto('/#/zones')
  await page.getByRole('button', { name: 'Remove' }).click()
  await page.getByLabel(`Type ${guest.email}`).fill(guest.email)
  await page.getByRole('dialog').getByRole('button', { name: 'Remove' }).click()
  await page.getByText(`${guest.email} no longer belongs to it.`).waitFor()
  await other.page.reload()
  await other.page.getByText('No zones yet').waitFor()
  const answer = await at.service.request('GET', `/api/v1/zones/${shared}`, { key: guest.key })
  expect(answer.status).toBe(404)
  expectClean(opened)
  expectClean(other)
})

test('the account is exported as a file, and deleted only by its own address', async () => {
  const leaver = await at.service.person()
  await makeZone(at, leaver, { label: 'Left behind', ...PLACE })
  const opened = await at.visit(leaver, '/#/account')
  const { page } = opened
  await page.getByText('1 of 1,000').first().waitFor()
  const coming = page.waitForEvent('download')
  await page.getByRole('button', { name: 'Export everything' }).click()
  const file = await (await coming).createReadStream()
  const text = (await file.toArray()).join('')
  expect(JSON.parse(text)).toMatchObject({
    account: { email: leaver.email },
    zones: [{ label: 'Left behind' }],
  })
  await page.getByRole('button', { name: 'Delete the account' }).click()
  const confirm = page.getByRole('dialog').getByRole('button', { name: 'Delete the account' })
  await page.getByLabel('Type your e-mail address').fill(owner.email)
  expect(await confirm.isDisabled()).toBe(true)
  await page.getByLabel('Type your e-mail address').fill(leaver.email)
  await confirm.click()
  await page.getByRole('heading', { name: 'Sign in to Watchpost' }).waitFor()
  const rows = await at.service.database.query('select from auth.users where id = $1', [
    leaver.user_id,
  ])
  expect(rows).toHaveLength(0)
  expectClean(opened)
})
