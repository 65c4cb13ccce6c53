import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Draft } from '../../web/pages/zones/draft.ts'
import { draftOf } from '../../web/pages/zones/draft.ts'
import { changedFields, withFields } from '../../web/pages/zones/draft-merge.ts'
import { eventually, expectAccessible, expectClean } from '../hub/web/browser.ts'
import type { Person } from '../support/service.ts'
import { makeZone, type ServedConsole, serveConsole } from './console.ts'

let at: ServedConsole

beforeAll(async () => {
  at = await serveConsole()
})
afterAll(() => at?.close())

/** Saves a zone as another window would. */
async function elsewhere(owner: Person, id: string, body: object): Promise<void> {
  const answer = await at.service.request('PATCH', `/api/v1/zones/${id}`, { key: owner.key, body })
  expect(answer.status).toBe(200)
}

async function stored(owner: Person, id: string) {
  const { body } = await at.service.request('GET', `/api/v1/zones/${id}`, { key: owner.key })
  return (body as { zone: Record<string, unknown> }).zone // safe: it is the owner's
}

test('a zone saved elsewhere while its form was open is never overwritten unseen', async () => {
  const owner = await at.service.person()
  const id = await makeZone(at, owner, { label: 'Strait', lat: 41, lon: 29 })
  const opened = await at.visit(owner, `/#/zones/${id}`)
  const { page } = opened
  const label = page.getByLabel('Name', { exact: true })
  const radius = page.getByLabel('Radius in km')
  const save = page.getByRole('button', { name: 'Save' })
  await label.fill('Bosphorus')
  await elsewhere(owner, id, { label: 'Dardanelles', radius_km: 120 })
  await save.click()
  const notice = page.getByRole('alert')
  await notice
    .getByText(`${owner.email} has changed this zone since you opened it: Name and Shape.`)
    .waitFor()
  expect(await notice.getByText('You have changed the following as well: Name.').isVisible()).toBe(
    true,
  )
  expect(await stored(owner, id)).toMatchObject({ label: 'Dardanelles', radius_km: 120 })
  expect(await save.isDisabled()).toBe(true)
  await expectAccessible(page)

  // What only the others changed is theirs either way.
  await page.getByRole('button', { name: 'Keep what I entered' }).click()
  expect(await label.inputValue()).toBe('Bosphorus')
  expect(await radius.inputValue()).toBe('120')
  expect(await notice.isVisible()).toBe(false)
  await save.click()
  await eventually(() => stored(owner, id)).toMatchObject({ label: 'Bosphorus', radius_km: 120 })

  await radius.fill('60')
  await elsewhere(owner, id, { label: 'Marmara', radius_km: 90 })
  await save.click()
  await page.getByRole('button', { name: 'Take these changes' }).click()
  expect(await label.inputValue()).toBe('Marmara')
  expect(await radius.inputValue()).toBe('90')
  expectClean(opened)
})

test('what stands in no field stops no save, and what nobody else changed is saved over a later version', async () => {
  const owner = await at.service.person()
  const id = await makeZone(at, owner, { label: 'Strait', lat: 41, lon: 29 })
  const opened = await at.visit(owner, `/#/zones/${id}`)
  const { page } = opened
  await page.getByLabel('Name', { exact: true }).fill('Bosphorus')
  await elsewhere(owner, id, { snoozed_until: new Date(Date.now() + 3_600_000).toISOString() })
  await page.getByRole('button', { name: 'Save' }).click()
  await eventually(() => stored(owner, id)).toMatchObject({ label: 'Bosphorus' })
  expect((await stored(owner, id)).snoozed_until).not.toBeNull()
  // A second save replaces what the first one stored.
  await page.getByLabel('Name', { exact: true }).fill('Haliç')
  await page.getByRole('button', { name: 'Save' }).click()
  await eventually(() => stored(owner, id)).toMatchObject({ label: 'Haliç' })
  expect(await page.getByRole('alert').isVisible()).toBe(false)
  expectClean(opened)
})

test('each part of a draft that differs is named by its field, and fields are taken over whole', () => {
  const here = draftOf(undefined, { lat: 1, lon: 2 })
  const there: Draft = { ...here, lat: 5, radius_km: 7, color: '#112233', magnitude_gap: '1' }
  expect(changedFields(here, here)).toEqual([])
  expect(changedFields(here, there)).toEqual(['shape_type', 'aftershocks', 'color'])
  expect(withFields(here, there, ['shape_type'])).toEqual({ ...here, lat: 5, radius_km: 7 })
  // Every part belongs to a field: taking all of them makes the other draft.
  const other: Record<string, unknown> = {}
  for (const part of Object.keys(here)) other[part] = `another ${part}`
  const all = other as Draft // safe: only compared and copied
  expect(withFields(here, all, changedFields(here, all))).toEqual(all)
})
