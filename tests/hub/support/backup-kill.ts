/** Restores the backup named in argv and kills itself when the step named there begins, or after so many ms. */

import { backupFile } from '../../../hub/backup/make.ts'
import { restoreBackup } from '../../../hub/backup/restore.ts'
import { readConfig } from '../../../hub/config.ts'

const [name = '', when = ''] = process.argv.slice(2)
const config = await readConfig(process.env)
const die = () => process.kill(process.pid, 'SIGKILL')
if (/^\d+$/.test(when)) setTimeout(die, Number(when))
await restoreBackup(config, {
  file: backupFile(config.paths, name),
  secret: {},
  progress: (_, step) => {
    if (step === when) die()
  },
})
