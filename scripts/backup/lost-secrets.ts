import type pg from 'pg'
import { createSeal } from '../../functions/seal.ts'
import { generateSecret } from '../../shared/signing.ts'
import type { SealKey } from './keys.ts'
import { becomeOwnerOf } from './session.ts'

const BATCH = 200
const REASON = 'The sealing key was lost in a restore. Set the target again, then switch it on.'

type Row = {
  id: string
  target_sealed: string
  target_masked: string
  config_sealed: string | null
  config_masked: unknown
  signing_secret_sealed: string | null
  former_secrets_sealed: { sealed: string }[]
}

/**
 * replaceLostSecrets switches off the channels whose secrets no key opens, with the reason, and gives
 * them a new signing secret and the masked target, so that the API can show and change them. Watchpost's
 * own sessions end, because their signing key is lost too; so does the key that signs evidence, of which the
 * public one stays. Returns how many channels it changed. Triggers
 * must be off.
 */
export async function replaceLostSecrets(client: pg.Client, keys: SealKey[]): Promise<number> {
  const { seal, unseal } = createSeal(keys.map(({ text }) => text))
  const opens = (sealed: string) =>
    unseal(sealed).then(
      () => true,
      () => false,
    )
  await becomeOwnerOf(client, 'watchpost.channels')
  await endSessions(client, opens)
  await retireEvidenceKeys(client, opens)
  let changed = 0
  for (let after = '00000000-0000-0000-0000-000000000000'; ; ) {
    const { rows } = await client.query<Row>(
      `select id, target_sealed, target_masked, config_sealed, config_masked, signing_secret_sealed, former_secrets_sealed
      from watchpost.channels where id > $1 order by id limit ${BATCH}`,
      [after],
    )
    for (const row of rows) {
      after = row.id
      const opened = await Promise.all(sealedIn(row).map(opens))
      if (!opened.includes(false)) continue
      changed += 1
      await client.query(
        `update watchpost.channels
        set target_sealed = $2, config_sealed = $3, signing_secret_sealed = $4, former_secrets_sealed = '[]',
          enabled = false, status = 'disabled', disabled_reason = $5, failing_reason = null, failing_since = null
        where id = $1`,
        [
          row.id,
          await seal(row.target_masked),
          row.config_sealed === null ? null : await seal(JSON.stringify(row.config_masked)),
          row.signing_secret_sealed === null ? null : await seal(generateSecret()),
          REASON,
        ],
      )
    }
    if (rows.length < BATCH) return changed
  }
}

function sealedIn(row: Row): string[] {
  const { target_sealed, config_sealed, signing_secret_sealed, former_secrets_sealed } = row
  const former = former_secrets_sealed.map(({ sealed }) => sealed)
  return [target_sealed, config_sealed, signing_secret_sealed, ...former].filter(
    (sealed) => sealed !== null,
  )
}

async function endSessions(
  client: pg.Client,
  opens: (sealed: string) => Promise<boolean>,
): Promise<void> {
  const { rows } = await client.query<{ kid: string; private_sealed: string }>(
    'select kid, private_sealed from watchpost.issuer_keys',
  )
  for (const { kid, private_sealed } of rows) {
    if (await opens(private_sealed)) continue
    await client.query('delete from watchpost.issuer_keys where kid = $1', [kid])
    await client.query('delete from watchpost.sessions')
  }
}

async function retireEvidenceKeys(
  client: pg.Client,
  opens: (sealed: string) => Promise<boolean>,
): Promise<void> {
  const { rows } = await client.query<{ kid: string; private_sealed: string }>(
    'select kid, private_sealed from watchpost.evidence_keys where retired_at is null',
  )
  for (const { kid, private_sealed } of rows) {
    if (await opens(private_sealed)) continue
    await client.query(
      'update watchpost.evidence_keys set retired_at = now(), private_sealed = null where kid = $1',
      [kid],
    )
  }
}
