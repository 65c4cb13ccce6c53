import { useQuery } from '@tanstack/react-query'
import { ArrowLeft, Download, Printer, ShieldCheck } from 'lucide-react'
import { Link } from 'wouter'
import { EvidenceFile } from '../../../shared/evidence/evidence.ts'
import { api, ok } from '../../api/client.ts'
import { FailedQuery, hasFailed } from '../../shared/errors.tsx'
import { Button, buttonClass } from '../../ui/button.tsx'
import { saveFile } from '../../ui/file.ts'
import { useText } from '../../ui/language.ts'
import { SkeletonRows } from '../../ui/states.tsx'
import { evidenceText } from './evidence.text.ts'
import { EvidenceSheet } from './sheet.tsx'

/** What is known of an alert, to read, print and download as it is signed. */
export function EvidencePage({ id }: { id: string }) {
  const text = useText(evidenceText)
  const found = useQuery({
    queryKey: ['alerts', 'evidence', id],
    // As text: a signature is over the bytes.
    queryFn: async (): Promise<{ file: EvidenceFile; bytes: string }> => {
      const bytes = await ok(
        api.GET('/api/v1/alerts/{id}/evidence', { params: { path: { id } }, parseAs: 'text' }),
      )
      return { file: EvidenceFile.parse(JSON.parse(bytes)), bytes }
    },
  })
  if (found.isPending) return <SkeletonRows />
  if (hasFailed(found)) return <FailedQuery error={found.error} onRetry={() => found.refetch()} />
  const { file, bytes } = found.data
  return (
    <div className="min-h-0 overflow-y-auto print:overflow-visible">
      <div className="mx-auto flex max-w-4xl flex-col gap-4 p-4 md:p-6 print:p-0">
        <div className="flex flex-wrap gap-2 print:hidden">
          <Link href={`/alerts/${id}`} className={buttonClass({ variant: 'ghost' })}>
            <ArrowLeft size={14} aria-hidden /> {text.back}
          </Link>
          <Button icon={<Printer size={14} aria-hidden />} onClick={() => window.print()}>
            {text.print}
          </Button>
          <Button
            icon={<Download size={14} aria-hidden />}
            onClick={() => saveFile(`evidence-${id}.json`, bytes, 'application/json')}
          >
            {text.download}
          </Button>
          <Link href="/evidence" className={buttonClass({ variant: 'ghost' })}>
            <ShieldCheck size={14} aria-hidden /> {text.check}
          </Link>
        </div>
        <h1 className="text-xl">{text.of_alert}</h1>
        <EvidenceSheet {...file} />
      </div>
    </div>
  )
}
