import { beforeAll, describe, expect, test } from 'vitest'
import { EVIDENCE_FORMAT, type EvidenceKey } from '../../../shared/evidence/evidence.ts'
import {
  checkEvidence,
  encoded,
  MAX_EVIDENCE_BYTES,
} from '../../../shared/evidence/evidence-check.ts'
import {
  canonical,
  fileText,
  nextRecord,
  preliminary,
} from '../../../shared/evidence/evidence-record.ts'

const AT = '2026-03-01T12:00:00.000Z'
const LATER = '2026-03-02T12:00:00.000Z'
const EVENT = {
  ...{ id: 'usgs:1', source: 'usgs', type: 'earthquake', title: 'M 6', lat: 1.5, lon: 2, ts: AT },
  ...{ severity: 60, subject: null, status: 'active', url: null, magnitude: 6, depth_km: 10 },
  ends_at: null,
}
const ID = '0b0e7a52-6f4e-4bb5-8f5b-3f6f0f0c6c11'
const ALERT = {
  ...{ id: ID, zone_id: ID, zone_name: 'Çanakkale', event_id: 'usgs:1', source: 'usgs' },
  ...{ attribution: 'USGS', subject: null, event: EVENT, current: EVENT, severity: 60 },
  ...{ reason: 'It reaches 60.', status: 'dispatched', raised_at: AT, held_until: null },
  ...{ dispatched_at: AT, updates: [], resolved: true, resolved_at: AT, resolved_by: null },
  ...{ resolved_via: 'api', seen_at: AT, seen_by: null, seen_via: 'api', note: 'Seen “it”' },
}
const revision = (number: number, geometry: object | null = null) => {
  const { id: _, ...event } = EVENT
  return { ...event, event_id: 'usgs:1', revision: number, first_seen_at: AT, geometry }
}
const ATTEMPT = { attempt: 1, at: AT, outcome: 'retry', status_code: 500, duration_ms: 12 }
const DELIVERY = {
  ...{ id: ID, channel_id: ID, channel_kind: 'webhook', type: 'alert.raised', sequence: 0 },
  ...{ status: 'succeeded', created_at: AT, delivered_at: AT, redelivery_of: null },
  ...{ digest_id: null, cancelled_because: null, attempts: [ATTEMPT] },
}
const ACT = { at: AT, actor_id: ID, action: 'alert.resolved', outcome: 'success', request_id: ID }
const FACTS = {
  ...{ read_at: AT, settled: true, alert: ALERT, decisions: [], zone_versions: [] },
  ...{ revisions: [revision(1)], revision_count: 1, deliveries: [DELIVERY], audit: [ACT] },
  audit_count: 1,
}
const record = async (facts: object = {}, before?: string) =>
  nextRecord({ ...FACTS, ...facts }, before === undefined ? null : { record: before })

type Signer = { key: EvidenceKey; sign: (text: string) => Promise<string> }
async function createSigner(kid: string): Promise<Signer> {
  const pair = await crypto.subtle.generateKey('Ed25519', true, ['sign', 'verify'])
  const { x = '' } = await crypto.subtle.exportKey('jwk', pair.publicKey)
  const key: EvidenceKey = {
    ...{ kty: 'OKP', crv: 'Ed25519', x, kid, alg: 'EdDSA', use: 'sig' },
    ...{ created_at: AT, retired_at: null },
  }
  const bytes = (text: string) => new TextEncoder().encode(text)
  const sign = async (text: string) =>
    encoded(new Uint8Array(await crypto.subtle.sign('Ed25519', pair.privateKey, bytes(text))))
  return { key, sign }
}

let ours: Signer
let theirs: Signer
let text: string
let file: string
beforeAll(async () => {
  ours = await createSigner('ours')
  theirs = await createSigner('theirs')
  text = canonical((await record()).record)
  file = fileText(text, { key_id: 'ours', value: await ours.sign(text) })
})
const faultOf = async (given: string, keys: unknown[] = [ours.key]) => {
  const verdict = await checkEvidence(given, keys)
  return verdict.ok ? 'ok' : verdict.fault
}
const signedAs = async (value: string, signer = ours, key_id = 'ours') =>
  fileText(value, { key_id, value: await signer.sign(value) })

describe('a file of evidence', () => {
  test('is good when its key signed its bytes, also with a line break that an editor added', async () => {
    expect(await checkEvidence(file, [theirs.key, ours.key])).toMatchObject({
      ok: true,
      key: ours.key,
      evidence: { format: EVIDENCE_FORMAT, number: 1, because: 'settled' },
    })
    expect(await faultOf(`${file}\n`)).toBe('ok')
    expect(await faultOf(`${file}\r\n`)).toBe('ok')
    const bytes = new TextEncoder().encode(file)
    expect(await checkEvidence(bytes, [ours.key])).toMatchObject({ ok: true })
  })

  test('is refused with any byte changed, removed or added', async () => {
    const step = Math.floor(file.length / 150)
    for (let at = 0; at < file.length; at += step) {
      const changed = file[at] === '0' ? '1' : '0'
      const put = (by: string) => file.slice(0, at) + by + file.slice(at + 1)
      for (const forged of [put(changed), put(''), put(`${file[at]}${changed}`)]) {
        expect(await faultOf(forged), `at ${at}: ${file.slice(at - 20, at + 20)}`).not.toBe('ok')
      }
    }
  })

  test('of another key is refused, also where it names ours, and one of a key that nobody knows', async () => {
    expect(await faultOf(await signedAs(text, theirs))).toBe('bad_signature')
    expect(await faultOf(await signedAs(text, theirs, 'theirs'))).toBe('unknown_key')
    expect(await faultOf(file, [])).toBe('unknown_key')
    expect(await faultOf(file, [{ ...ours.key, kty: 'oct' }])).toBe('unknown_key')
    expect(await faultOf(file, [{ ...ours.key, x: '' }])).toBe('bad_signature')
  })

  test('is refused where two readers could read two things: a name twice, another order, another form', async () => {
    const severity = '"severity":60,'
    expect(file).toContain(severity)
    const forms = [
      file.replace(severity, `"severity":99,${severity}`),
      file.replace(severity, `${severity}"severity":99,`),
      file.replace(severity, '"severity":60.0,'),
      file.replace(severity, '"severity":6e1,'),
      file.replace(severity, '"severity":0060,'),
      file.replace(severity, '"severity": 60,'),
      file.replace('Çanakkale', '\\u00c7anakkale'),
      file.replace('"resolved":true', '"\\u0072esolved":true'),
      `\ufeff${file}`,
      ` ${file}`,
      `${file}\n\n`,
      file.replace('{"evidence":', '{"evidence":{},"evidence":'),
      // A lone half of a character has no canonical form.
      file.replace('Çanakkale', '\\ud800'),
    ]
    for (const form of forms) expect(['not_canonical', 'not_json']).toContain(await faultOf(form))
    const [, signature] = file.split(',"signature":')
    expect(await faultOf(`{"signature":${signature?.slice(0, -1)},"evidence":${text}}`)).toBe(
      'not_canonical',
    )
  })

  test('is not good by a signature over anything but the whole record', async () => {
    const value = await ours.sign(text)
    const signatureOf = (given: unknown) =>
      canonical({ evidence: JSON.parse(text), signature: given })
    const whole = { alg: 'Ed25519', key_id: 'ours', value }
    expect(await faultOf(signatureOf(whole))).toBe('ok')
    expect(await faultOf(signatureOf({ ...whole, alg: 'none' }))).toBe('not_evidence')
    for (const wrong of [
      '',
      `${value}=`,
      value.slice(1),
      `${value}A`,
      'AAAA',
      `+${value.slice(1)}`,
    ]) {
      expect(await faultOf(signatureOf({ ...whole, value: wrong }))).toBe('bad_signature')
    }
    // The last character has four bits that mean nothing: only one spelling is taken.
    const letters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'
    const next = letters[letters.indexOf(value.at(-1) ?? '') + 1]
    const spelt = signatureOf({ ...whole, value: `${value.slice(0, -1)}${next}` })
    expect(await faultOf(spelt)).toBe('bad_signature')
    expect(await faultOf(signatureOf(null))).toBe('unsigned')
    const draft = preliminary((await record()).record)
    expect(await faultOf(canonical(draft))).toBe('unsigned')
    // Signed although it is not final: nobody signs such a one.
    expect(await faultOf(await signedAs(canonical(draft.evidence)))).toBe('unsigned')
    // A field that this version does not know is signed with the rest.
    const more = canonical({ ...JSON.parse(text), later: 1 })
    expect(await faultOf(await signedAs(more))).toBe('ok')
    expect(await faultOf((await signedAs(more)).replace('"later":1', '"later":2'))).toBe(
      'bad_signature',
    )
  })

  test('that is no evidence, no JSON or too large is refused for that', async () => {
    for (const none of ['', 'x', '{', 'PK\u0003\u0004'])
      expect(await faultOf(none)).toBe('not_json')
    for (const other of ['{}', '[]', '1', 'null', '{"evidence":{}}']) {
      expect(await faultOf(other)).toBe('not_evidence')
    }
    expect(await checkEvidence(new Uint8Array([0xff, 0xfe]), [])).toMatchObject({
      fault: 'not_json',
    })
    expect(await faultOf(' '.repeat(MAX_EVIDENCE_BYTES + 1))).toBe('too_large')
    expect(await faultOf('x'.repeat(MAX_EVIDENCE_BYTES))).toBe('not_json')
  })

  test('of a withdrawn key is not good, whatever time it names, and a changed one is bad first', async () => {
    const withdrawn_at = '2999-01-01T00:00:00.000Z'
    const withdrawn = { ...ours.key, withdrawn_at, withdrawn_reason: 'It leaked' }
    expect(await checkEvidence(file, [withdrawn])).toMatchObject({
      ...{ ok: false, fault: 'withdrawn_key', key: { withdrawn_at }, evidence: { number: 1 } },
    })
    expect(await faultOf(file.replace('"severity":60', '"severity":61'), [withdrawn])).toBe(
      'bad_signature',
    )
    expect(await faultOf(file, [{ ...ours.key, withdrawn_at: null }])).toBe('ok')
  })
})

describe('the next record', () => {
  test('keeps what was deleted since, and says when nothing is new', async () => {
    const gone = { revisions: [], revision_count: 0, deliveries: [{ ...DELIVERY, attempts: [] }] }
    expect(await record({ ...gone, audit: [], read_at: LATER }, text)).toMatchObject({
      is_news: false,
      read_at: LATER,
    })
    const second = { ...ATTEMPT, attempt: 2, outcome: 'ok', status_code: 200 }
    const reopened = { ...ACT, at: LATER, action: 'alert.reopened' }
    const next = await record(
      {
        ...{ read_at: LATER, settled: false, revisions: [revision(2)], audit: [reopened] },
        ...{
          alert: { ...ALERT, resolved: false },
          deliveries: [{ ...DELIVERY, attempts: [second] }],
        },
      },
      text,
    )
    expect(next).toMatchObject({ is_news: true, settled: false })
    expect(next.record).toMatchObject({
      ...{ number: 2, made_at: LATER, because: 'before_purge', alert: { resolved: false } },
      ...{ revisions: [{ revision: 1 }, { revision: 2 }], audit: [ACT, reopened] },
      deliveries: [{ attempts: [ATTEMPT, second] }],
    })
  })

  test('has each footprint once, and counts those that are too large', async () => {
    const [small, other] = [
      { type: 'Point', coordinates: [1, 2] },
      { type: 'Point', coordinates: [3, 4] },
    ]
    const large = { type: 'LineString', coordinates: Array(200_000).fill([12.345, 67.891]) }
    const given = [small, small, large, other, large, null]
    const revisions = given.map((geometry, index) => revision(index + 1, geometry))
    const first = await record({ revisions, revision_count: 1_006 })
    const kept = first.record.revisions.map(({ geometry }) => geometry)
    expect(kept).toEqual([small, null, null, other, null, null])
    const hashes = first.record.revisions.map(({ geometry_sha256: hash }) => hash)
    expect(hashes[0]).toBe('0bc92a5e811f0ffd88829cf6169e8dab3a9373a8e9446797ee2c3672ff701818')
    expect([hashes[1], hashes[4], hashes[5]]).toEqual([hashes[0], hashes[2], null])
    expect(first.record.omitted).toEqual({ revisions: 1_000, footprints: 1 })
    const again = await record({ revisions: [], revision_count: 1_000 }, canonical(first.record))
    expect(again).toMatchObject({ is_news: false })
  })

  test('counts the acts that it lacks, and says nothing where it lacks none', async () => {
    const first = await record({ audit_count: 1_234 })
    expect(first.record.omitted).toEqual({ revisions: 0, footprints: 0, audit: 1_233 })
    const again = await record({ audit: [], audit_count: 0 }, canonical(first.record))
    expect(again).toMatchObject({ is_news: false, record: { omitted: { audit: 1_233 } } })
    expect((await record()).record.omitted).toEqual({ revisions: 0, footprints: 0 })
  })
})
