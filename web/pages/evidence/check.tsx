import { useMutation } from '@tanstack/react-query'
import { ShieldCheck, Upload } from 'lucide-react'
import { Link } from 'wouter'
import {
  checkEvidence,
  type EvidenceVerdict,
  MAX_EVIDENCE_BYTES,
} from '../../../shared/evidence/evidence-check.ts'
import { api, ok } from '../../api/client.ts'
import { FailedQuery } from '../../shared/errors.tsx'
import { buttonClass } from '../../ui/button.tsx'
import { cn } from '../../ui/class-names.ts'
import { Notice } from '../../ui/form.tsx'
import { useText } from '../../ui/language.ts'
import { LanguageSwitch } from '../../ui/language-switch.tsx'
import { evidenceText } from './evidence.text.ts'
import { EvidenceSheet } from './sheet.tsx'

/** Whether a file is a record of this service as it was signed; for everybody, signed in or not. */
export function CheckPage() {
  const text = useText(evidenceText)
  const check = useMutation({
    mutationFn: async (file: File): Promise<EvidenceVerdict> => {
      if (file.size > MAX_EVIDENCE_BYTES) return { ok: false, fault: 'too_large' }
      const bytes = new Uint8Array(await file.arrayBuffer())
      const { keys } = await ok(api.GET('/.well-known/watchpost-evidence.json'))
      return checkEvidence(bytes, keys)
    },
  })
  return (
    <main className="mx-auto flex max-w-4xl flex-col gap-4 p-4 md:p-6 print:p-0">
      <h1 className="text-xl">{text.check}</h1>
      <p className="text-pretty text-muted print:hidden">{text.check_text}</p>
      <label
        className={cn(
          buttonClass(),
          'relative w-fit focus-within:outline-2 focus-within:outline-accent print:hidden',
        )}
      >
        <Upload size={14} aria-hidden /> {text.file}
        <input
          type="file"
          className="sr-only"
          accept=".json,application/json"
          onChange={({ currentTarget }) => {
            const [file] = currentTarget.files ?? []
            if (file) check.mutate(file)
            // The same file may be chosen again.
            currentTarget.value = ''
          }}
        />
      </label>
      <div aria-live="polite" className="flex flex-col gap-4">
        {check.error ? <FailedQuery error={check.error} onRetry={() => check.reset()} /> : null}
        {check.data ? <Verdict verdict={check.data} /> : null}
      </div>
      <div className="flex flex-wrap items-center justify-between gap-2 print:hidden">
        <Link href="/" className="text-accent-text hover:underline">
          {text.to_console}
        </Link>
        <LanguageSwitch />
      </div>
    </main>
  )
}

function Verdict({ verdict }: { verdict: EvidenceVerdict }) {
  const text = useText(evidenceText)
  if (!verdict.ok && verdict.fault === 'withdrawn_key') {
    return <Notice tone="bad" text={text.withdrawn(verdict.key.withdrawn_at ?? '')} />
  }
  if (!verdict.ok) {
    return <Notice tone="bad" text={`${text.bad}. ${text.faults[verdict.fault]}`} />
  }
  const { evidence, key } = verdict
  return (
    <>
      <p className="flex items-start gap-2">
        <ShieldCheck size={20} className="shrink-0 text-good" aria-hidden />
        <span>
          <strong>{text.good}.</strong> {text.good_text}
          {key.retired_at ? ` ${text.retired} ${key.retired_at}.` : null}
        </span>
      </p>
      <EvidenceSheet
        evidence={evidence}
        signature={{ alg: 'Ed25519', key_id: key.kid, value: '' }}
      />
    </>
  )
}
