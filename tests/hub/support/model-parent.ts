import { join } from 'node:path'
import { startModel } from './model.ts'

/* A process with a model process of its own, for a test to kill. */
const { model, folder } = await startModel()
await model.ready()
process.stdout.write(`socket ${join(folder, 'model.sock')}\n`)
