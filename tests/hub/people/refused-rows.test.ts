import { afterAll, beforeAll, expect, test } from 'vitest'
import { startHub, type TestHub } from '../support/hub.ts'
import { leadCalls } from '../support/lead-calls.ts'
import { ask } from './people-help.ts'

let hub: TestHub
const { post, add } = leadCalls(() => hub)
beforeAll(async () => {
  hub = await startHub()
  await post('projects/create', { slug: 'demir', name: 'Demir' })
})
afterAll(() => hub.close())

test('refused rows with the name and no address go with whoever is erased, and others stay', async () => {
  const email = 'nilay@rows.example'
  await add({ name: 'Nilay Öz', email })
  const rows = [
    ['Nilay Öz', 'not-an-address', '+90 532 1'],
    ['NİLAY', 'ÖZ', '+90 532 2'],
    ['Nilay Öz', 'nilay@other.example', '+90 532 3'],
    ['Nilay', 'Özkan', '+90 532 4'],
  ]
  await hub.query(
    `with import as (
       insert into hub.imports (project_id, file, options, total, status)
       select id, 'n.csv', '{}', 4, 'done' from hub.projects returning id, project_id
     )
     insert into hub.import_errors (import_id, project_id, position, cells, mistakes)
     select id, project_id, at, array(select jsonb_array_elements_text(row)), '[]'
     from import, jsonb_array_elements($1::jsonb) with ordinality as given (row, at)`,
    [JSON.stringify(rows)],
  )
  const given = { email, confirm: email, replace_in_texts: true }
  expect((await ask(hub, 'erase', given)).body.erased).toMatchObject({ leads: 1, import_rows: 2 })
  const left = await hub.query<{ phone: string }>(
    'select cells[3] as phone from hub.import_errors order by 1',
  )
  expect(left.map(({ phone }) => phone)).toEqual(['+90 532 3', '+90 532 4'])
})
