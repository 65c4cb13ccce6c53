import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import {
  eventually,
  expectAccessible,
  expectClean,
  expectNoSideways,
  open,
  type ServedHub,
  serveHub,
  settled,
  sharedBrowser,
  visit,
  walkTo,
} from './browser.ts'

let browser: Browser
let hub: ServedHub
beforeAll(async () => {
  browser = await sharedBrowser()
  hub = await serveHub()
  await hub.call('POST', 'projects/create', { slug: 'demir', name: 'Veri Lojistik' })
}, 60_000)
afterAll(() => hub?.close())

test('an admin invites a seller, who joins by the link and sees what a seller may', async () => {
  const admin = await visit(browser, hub, '/hub/settings/members')
  await admin.page.getByLabel('E-mail').fill('ece@demir.example')
  await admin.page.getByRole('button', { name: 'Make the link' }).click()
  const field = admin.page.getByLabel('Link for ece@demir.example')
  await field.waitFor()
  const link = await field.inputValue()
  expect(link).toContain(`${hub.origin}/hub/join#`)

  const guest = await open(browser, hub.origin, { isPhone: true, theme: 'dark' })
  const { page } = guest
  await page.goto(link)
  await page.getByText('This invitation is for ece@demir.example.').waitFor()
  await settled(page)
  await expectAccessible(page)
  await expectNoSideways(page)
  await page.getByLabel('Your name').fill('Ece')
  await page.getByLabel('New password').fill('a long enough one')
  await page.getByLabel('Repeat password').fill('a long enough one')
  await page.getByRole('button', { name: 'Set password and sign in' }).click()
  await eventually(() => page.url()).toContain('/hub/p/demir/today')
  await settled(page)

  // What only an admin can set up is not among their next actions.
  await admin.page.goto('/hub/p/demir/today')
  await admin.page.getByText('Choose a model').waitFor()
  await page.getByText('Add leads to Veri Lojistik').waitFor()
  expect(await page.getByText('Choose a model').count()).toBe(0)

  // Settings are explained; the own password is there.
  await walkTo(page, '/hub/settings/mail')
  await page.getByText('Only an admin can change this').waitFor()
  await walkTo(page, '/hub/settings/account')
  await page.getByText('Signed in as Ece (Seller)').waitFor()
  await expectAccessible(page)
  const sections = page.getByRole('combobox', { name: 'Sections' })
  expect(await sections.getByRole('option').allTextContents()).toEqual(['Appearance and password'])
  // Deleting a project is not offered; the page says who may.
  await walkTo(page, '/hub/p/demir/project')
  await page.getByText('Only an admin can change this.').waitFor()
  expect(await page.getByRole('button', { name: 'Delete project' }).count()).toBe(0)

  // The admin sees who joined, and takes the role to write away.
  await admin.page.goto('/hub/settings/members')
  await admin.page.getByLabel('Role of Ece').selectOption('reader')
  await admin.page.getByText('The role of Ece was changed').waitFor()
  await page.goto('/hub/p/demir/leads')
  await page.getByText('Your role is Reader').waitFor()
  await settled(page)
  // A reader takes no list along, makes no project, and sees the brand with its sample mail.
  await page.getByRole('button', { name: 'More actions' }).click()
  const exporting = page.getByRole('menuitem', { name: 'Export as CSV' })
  expect(await exporting.getAttribute('data-disabled')).not.toBeNull()
  await page.keyboard.press('Escape')
  await page.getByRole('button', { name: /Switch project/ }).click()
  const creating = page.getByRole('menuitem', { name: 'Create project' })
  expect(await creating.getAttribute('data-disabled')).not.toBeNull()
  await page.keyboard.press('Escape')
  await walkTo(page, '/hub/p/demir/project/brand')
  await page.getByTitle('Preview of a mail').waitFor()
  await walkTo(admin.page, '/hub/settings/audit')
  await admin.page.getByText('Joined with a link').waitFor()
  await settled(admin.page)
  await expectAccessible(admin.page)
  // Its filter stands in the address.
  await admin.page.getByLabel('When').selectOption('30')
  await admin.page.reload()
  await admin.page.getByText('Joined with a link').waitFor()
  expect(await admin.page.getByLabel('When').inputValue()).toBe('30')

  // Once they are removed, the next look leads to the sign-in.
  await hub.query("update hub.members set removed_at = now() where email = 'ece@demir.example'")
  await page.goto('/hub/p/demir/leads')
  await eventually(() => page.url()).toContain('/hub/login')
  expectClean(guest)
  expectClean(admin)
})
