/** `npm run license`: the vendor's key pairs and the licenses signed with them. */
import { existsSync } from 'node:fs'
import { readFile, writeFile } from 'node:fs/promises'
import { calculateJwkThumbprint, exportJWK, generateKeyPair, importJWK, SignJWT } from 'jose'
import { z } from 'zod'
import { Claims } from '../hub/license/license.ts'
import { readArguments, runMain, UsageError } from './start/arguments.ts'

const HELP = `npm run license -- <command> [options]

  keygen --key FILE
      writes a new private key to FILE (mode 0600) and prints its public key for hub/license/license-keys.json
  issue --key FILE --tier starter|pro|enterprise --customer NAME [--days 365] [--max-projects N|unlimited]
      prints a license key for this customer

Keep the private key out of the repository and off this machine.`
const SEE_HELP = 'See npm run license -- --help'

const PrivateKey = z.looseObject({
  kty: z.literal('OKP'),
  crv: z.literal('Ed25519'),
  kid: z.string().min(1),
  x: z.string(),
  d: z.string(),
})

async function main(): Promise<void> {
  const { values, positionals } = readArguments(
    {
      allowPositionals: true,
      options: {
        key: { type: 'string' },
        tier: { type: 'string' },
        customer: { type: 'string' },
        days: { type: 'string', default: '365' },
        'max-projects': { type: 'string' },
        help: { type: 'boolean', short: 'h' },
      },
    },
    SEE_HELP,
  )
  const [command] = positionals
  if (values.help || !command) return console.log(HELP)
  if (!values.key)
    throw new UsageError(`--key is required: the file of the private key. ${SEE_HELP}`)
  if (command === 'keygen') return console.log(await keygen(values.key))
  if (command === 'issue') return console.log(await issue(values.key, claimsOf(values)))
  throw new UsageError(`There is no command "${command}". ${SEE_HELP}`)
}

/**
 * keygen writes a new private key to the file and returns its public key as a line for the JWKS.
 */
async function keygen(file: string): Promise<string> {
  if (existsSync(file)) throw new UsageError(`${file} already exists. Choose another name.`)
  const { privateKey, publicKey } = await generateKeyPair('Ed25519', { extractable: true })
  const kid = (await calculateJwkThumbprint(await exportJWK(publicKey))).slice(0, 16)
  const jwk = { ...(await exportJWK(privateKey)), kid, alg: 'Ed25519' }
  await writeFile(file, `${JSON.stringify(jwk)}\n`, { mode: 0o600, flag: 'wx' })
  const { kty, crv, x } = await exportJWK(publicKey)
  return JSON.stringify({ kty, crv, x, kid, alg: 'Ed25519', use: 'sig' })
}

async function issue(file: string, claims: z.infer<typeof Claims>): Promise<string> {
  const jwk = PrivateKey.safeParse(JSON.parse(await readFile(file, 'utf8')))
  if (!jwk.success) throw new UsageError(`${file} must be a private key made by \`keygen\`.`)
  const { exp, ...rest } = claims
  return new SignJWT(rest)
    .setProtectedHeader({ alg: 'Ed25519', kid: jwk.data.kid })
    .setIssuedAt()
    .setExpirationTime(exp)
    .sign(await importJWK(jwk.data, 'Ed25519'))
}

function claimsOf(values: {
  tier?: string
  customer?: string
  days: string
  'max-projects'?: string
}): z.infer<typeof Claims> {
  const maxProjects = values['max-projects']
  if (!/^\d{1,5}$/.test(values.days) || Number(values.days) === 0) {
    throw new UsageError(`--days must be a number of days, at least 1. ${SEE_HELP}`)
  }
  const claims = Claims.safeParse({
    tier: values.tier,
    customer: values.customer,
    exp: Math.floor(Date.now() / 1000) + Number(values.days) * 86_400,
    ...(maxProjects === undefined
      ? {}
      : { max_projects: maxProjects === 'unlimited' ? null : Number(maxProjects) }),
  })
  if (claims.success) return claims.data
  const [first] = claims.error.issues
  throw new UsageError(
    `--${String(first?.path[0]).replace('_', '-')}: ${first?.message}. ${SEE_HELP}`,
  )
}

await runMain(main)
