import { expect, test } from 'vitest'
import type { Named } from '../../../hub/audit/audit.ts'
import { byOf } from '../../../hub/members/by.ts'

test.each<[Named | null, en: string | undefined, tr: string | undefined]>([
  [{ kind: 'member', id: 'm', name: 'Ayşe' }, 'Ayşe', 'Ayşe'],
  [{ kind: 'api', id: 'k', name: 'Nightly import' }, 'Nightly import', 'Nightly import'],
  [{ kind: 'member', id: 'm', name: null }, 'A former member', 'Eski bir üye'],
  [{ kind: 'admin', id: null, name: null }, 'First admin', 'İlk yönetici'],
  [{ kind: 'hub', id: null, name: null }, 'The hub', 'Hub'],
  [{ kind: 'unknown', id: null, name: null }, 'Unknown', 'Bilinmiyor'],
  [null, undefined, undefined],
])('%j is read as %s', (actor, en, tr) => {
  const words = byOf(actor)
  expect([words?.en, words?.tr]).toEqual([en, tr])
})
