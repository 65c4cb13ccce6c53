import { serve } from '../../../hub/reader/serve.ts'

// Tests run as root, where Chromium has no sandbox of its own.
process.once('SIGTERM', () => process.exit(0))
await serve(process.stdin, process.stdout, { is_sandboxed: process.getuid?.() !== 0 })
process.stdout.end(() => process.exit(0))
