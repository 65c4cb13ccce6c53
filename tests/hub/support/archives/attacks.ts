import type { Member } from '../tar.ts'
import { attackByWeight } from './bombs.ts'
import { type Attempts, type Crafted, crafted, TRUST } from './craft.ts'
import { attackBytes } from './damage.ts'
import { attackManifests } from './manifests.ts'
import { attackPaths } from './paths.ts'
import { attackRows } from './rows.ts'
import { attackSettings } from './settings.ts'
import { attackSignatures } from './signatures.ts'

/** Every attack on a sound archive. */
export function attacks(sound: Member[], bytes: Buffer): Crafted[] {
  const list: Crafted[] = []
  const put: Attempts['put'] = (group, name, says, made, trust = TRUST) =>
    list.push({ group, name, says, bytes: made, trust })
  const change: Attempts['change'] = (group, name, says, how, options) =>
    put(group, name, says, () => crafted(sound, how, options))
  const attempts = { sound, bytes, put, change }
  attackPaths(attempts)
  attackManifests(attempts)
  attackRows(attempts)
  attackSettings(attempts)
  attackByWeight(attempts)
  attackBytes(attempts)
  attackSignatures(attempts)
  return list
}
