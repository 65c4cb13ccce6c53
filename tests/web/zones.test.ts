import { afterAll, beforeAll, expect, test } from 'vitest'
import { eventually, expectAccessible, expectClean, expectNoSideways } from '../hub/web/browser.ts'
import type { Person } from '../support/service.ts'
import { makeChannel, makeZone, type ServedConsole, serveConsole } from './console.ts'

const PLACE = { lat: 41, lon: 29 }
let at: ServedConsole
let owner: Person
let channel: string

beforeAll(async () => {
  at = await serveConsole()
  owner = await at.service.person()
  channel = await makeChannel(at, owner, { label: 'On call' })
})
afterAll(() => at?.close())

type Found = { id: string; label: string; [name: string]: unknown }

async function zones(person = owner): Promise<Found[]> {
  const { body } = await at.service.request('GET', '/api/v1/zones', { key: person.key })
  return (body as { zones: Found[] }).zones // safe: 200
}

test('whoever begins makes a zone from an example and sends a test alert through it', async () => {
  const beginner = await at.service.person()
  await makeChannel(at, beginner, { label: 'First channel' })
  const opened = await at.visit(beginner, '/#/zones')
  const { page } = opened
  await page.getByRole('button', { name: 'Earthquakes around the Marmara Sea' }).click()
  await page.getByRole('heading', { name: 'Earthquakes around the Marmara Sea' }).waitFor()
  await page.getByRole('button', { name: 'Send a test alert' }).click()
  await page.getByText('The test alert is on its way').waitFor()
  await at.jobs.drain()
  expect(at.service.receiver.requests.at(-1)?.body).toContain('Earthquakes around the Marmara Sea')
  await page.getByRole('link', { name: 'Its alerts' }).click()
  const [made] = await zones(beginner)
  await eventually(() => page.getByLabel('Zone', { exact: true }).inputValue()).toBe(made?.id)
  expectClean(opened)
})

test('channels, sharing and quiet hours are chosen; it is snoozed, and its history tells', async () => {
  const org = await at.service.organisation(owner)
  const id = await makeZone(at, owner, { label: 'The strait', ...PLACE })
  const opened = await at.visit(owner, `/#/zones/${id}`, { locale: 'tr-TR' })
  const { page } = opened
  const find = async () => (await zones()).find((zone) => zone.id === id)
  await page.getByLabel('Its alerts go to').first().selectOption('some')
  await page.getByLabel('On call').check()
  await page.getByLabel('Shared with').selectOption(org)
  await page.getByRole('button', { name: 'Add quiet window' }).click()
  const from = page.getByLabel('From', { exact: true })
  expect(await from.inputValue()).toMatch(/^10:00\sPM$/)
  await from.fill('11 at night')
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByText(/^From: enter a time such as 10:30\sPM\.$/).waitFor()
  await page.locator(':focus[aria-invalid=true]').fill('11 pm')
  await page.getByLabel('Time zone').fill('Europe/Istanbul')
  await page.getByText('The clocks there do not change within a year.').waitFor()
  await page.getByLabel('Time zone').fill('Europe/Berlin')
  await page.getByText(/the clocks there go (forward|back)/).waitFor()
  await page.getByLabel('Tell at once from severity').fill('80')
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByText('Saved.').waitFor()
  expect(await find()).toMatchObject({
    channel_ids: [channel],
    org_id: org,
    quiet_hours_start: '23:00',
    quiet_hours_end: '07:00',
    quiet_windows: null,
    quiet_hours_tz: 'Europe/Berlin',
    emergency_severity: 80,
  })
  await makeZone(at, owner, { label: 'Its neighbour', ...PLACE, external_id: 'HQ', org_id: org })
  const code = page.getByLabel('Code in your list')
  await code.fill('HQ')
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByText('Another zone has this external_id already').waitFor()
  expect(await code.getAttribute('aria-invalid')).toBe('true')
  await code.fill(' HQ-2 ')
  await page.getByRole('button', { name: 'Save' }).click()
  await eventually(async () => (await find())?.external_id).toBe('HQ-2')
  await page.getByText('History').click()
  await page.getByText('23:00').first().waitFor()
  await page.getByText(owner.email).first().waitFor()
  await page.getByRole('button', { name: 'Snooze' }).click()
  await page.getByRole('menuitem', { name: 'For 24 hours' }).click()
  await page.getByText('Snoozed; it alerts again').waitFor()
  await page.getByRole('button', { name: 'Wake it' }).click()
  await eventually(async () => (await find())?.snoozed_until).toBe(null)
  expectClean(opened)
})

const KML = `<?xml version="1.0"?><kml xmlns="http://www.opengis.net/kml/2.2"><Document>
<Placemark><name>Bay</name><Polygon><outerBoundaryIs><LinearRing><coordinates>28,40,0 30,40,0 30,42,0 28,40,0
</coordinates></LinearRing></outerBoundaryIs></Polygon></Placemark>
<Placemark><name>Pier</name><Point><coordinates>29,41</coordinates></Point></Placemark>
<Placemark><name>Path</name><LineString><coordinates>1,1 2,2</coordinates></LineString></Placemark>
</Document></kml>`
const GPX = `<gpx xmlns="http://www.topografix.com/GPX/1/1" version="1.1"><wpt lat="40.5" lon="28.5"><name>Buoy</name></wpt>
<trk><name>Round</name><trkseg><trkpt lat="1" lon="1"/><trkpt lat="1" lon="2"/><trkpt lat="2" lon="2"/><trkpt lat="1" lon="1"/></trkseg></trk></gpx>`

test('KML and GPX become zones, each answered for itself', async () => {
  const importer = await at.service.person()
  const opened = await at.visit(importer, '/#/zones/import')
  const { page } = opened
  const given = page.getByLabel('What to import')
  await given.fill('{"type": ')
  await page.getByText('is not complete JSON').waitFor()
  await given.fill('POLYGON((0 0, 2 2, 2 0, 0 2, 0 0))')
  await page.getByRole('button', { name: 'Import 1 zone' }).click()
  await page.getByText('crosses or overlaps itself').waitFor()

  await given.fill(KML)
  await page.getByText('1 part is neither an area nor a place.').waitFor()
  await page.getByLabel('Radius of places').fill('7')
  await page.getByRole('button', { name: 'Import 2 zones' }).click()
  await page.getByText('2 zones are imported.').waitFor()
  await given.fill(GPX)
  await page.getByRole('button', { name: 'Import 2 zones' }).click()
  await eventually(async () =>
    (await zones(importer)).map(({ label }) => label).toSorted(),
  ).toEqual(['Bay', 'Buoy', 'Pier', 'Round'])
  const [bay, pier] = ['Bay', 'Pier'].map((name) =>
    zones(importer).then((all) => all.find(({ label }) => label === name)),
  )
  expect(await bay).toMatchObject({ shape_type: 'polygon' })
  expect(await pier).toMatchObject({ shape_type: 'circle', radius_km: 7 })
  expectClean(opened)
})

test('a list of sites is judged row by row before anything is made; again it is a change', async () => {
  const importer = await at.service.person()
  const kept = await makeZone(at, importer, { label: 'Merkez', ...PLACE })
  const opened = await at.visit(importer, '/#/zones/import')
  const { page } = opened
  const given = page.getByLabel('What to import')
  const rows = page.getByRole('region', { name: 'What becomes of the rows' })
  const list = (radius: string) =>
    `\uFEFFAd;Enlem;Boylam;Yarıçap (km);Yer\r\nMerkez;41,0082;28,9784;${radius};a\r\n"=Depo; 2";39,9;32,85;;b\r\nUzak;99;29;5;c\r\nMerkez;1;2;3;d\r\n`
  await given.fill(list('12,5'))
  await page.getByRole('heading', { name: 'List of sites: 4 rows' }).waitFor()
  expect(await page.getByLabel('Latitude').inputValue()).toBe('1')
  await page.getByLabel('Name', { exact: true }).selectOption('')
  await page.getByLabel('Name', { exact: true }).selectOption('0')
  await page.getByRole('button', { name: 'Check the list' }).press('Enter')
  await page.getByText('1 zone of yours has a name of the list and no code').waitFor()
  await rows.getByText('Line 2 has the same code').waitFor()
  expect(await rows.getByRole('listitem').first().textContent()).toMatch(/Line 4Uzak.*Rejectedlat/)
  expect(await zones(importer)).toHaveLength(1)
  await expectAccessible(page)
  await expectNoSideways(page)
  await page.getByLabel('Radius of places').fill('7')
  await page.getByRole('button', { name: 'Import: 1 new, 1 changed' }).press('Enter')
  await page.getByText('The list is imported.').waitFor()
  const made = await zones(importer)
  expect(made).toHaveLength(2)
  expect(made.find(({ id }) => id === kept)).toMatchObject({
    external_id: 'Merkez',
    lat: 41.0082,
    radius_km: 12.5,
  })
  expect(made.find(({ external_id }) => external_id === '=Depo; 2')).toMatchObject({ radius_km: 7 })
  const coming = page.waitForEvent('download')
  await page.getByRole('button', { name: 'Download the rejected rows' }).click()
  const file = await (await (await coming).createReadStream()).toArray()
  expect(file.join('')).toMatch(/^Ad,Enlem,.*,reason\r\nUzak,99,29,5,c,.*lat: /)
  await given.fill(list('20'))
  await page.getByRole('button', { name: 'Check the list' }).click()
  await page.getByText('Unchanged: 1').waitFor()
  await page.getByRole('button', { name: 'Import: 0 new, 1 changed' }).click()
  await page.getByText('The list is imported.').waitFor()
  expect((await zones(importer)).find(({ id }) => id === kept)).toMatchObject({ radius_km: 20 })
  expectClean(opened)
})

test('a list of 1,200 sites goes in two portions, and says how far it is', async () => {
  const importer = await at.service.person({ plan: 'enterprise' })
  const opened = await at.visit(importer, '/#/zones/import')
  const { page } = opened
  const lines = Array.from(
    { length: 1200 },
    (_, i) => `Site ${i},${(i % 80) - 40},${i % 170},5,s${i}`,
  )
  // In the second portion, so that its line is counted from the beginning.
  lines[1100] = 'Nowhere,99,0,5,s1100'
  const list = ['name,lat,lon,radius,code', ...lines].join('\n')
  let sent = 0
  page.on('request', (request) => {
    if (request.url().endsWith('/zones/bulk')) sent += 1
  })
  await page.getByLabel('What to import').fill(list)
  await page.getByRole('heading', { name: 'List of sites: 1200 rows' }).waitFor()
  await page.getByRole('button', { name: 'Check the list' }).click()
  await page.getByText('Line 1102').waitFor({ timeout: 60_000 })
  await page.getByRole('button', { name: 'Import: 1199 new, 0 changed' }).click()
  await page.getByText('The list is imported.').waitFor({ timeout: 60_000 })
  const [kept] = await at.service.database.query<{ count: number }>(
    "select count(*)::int as count from watchpost.zones where external_id ~ '^s[0-9]+$'",
  )
  expect(kept?.count).toBe(1199)
  // Twice two: the check, and the import.
  expect(sent).toBe(4)
  expectClean(opened)
}, 180_000)
