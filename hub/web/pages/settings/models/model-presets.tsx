import { useMutation, useQueryClient } from '@tanstack/react-query'
import { Check, Download } from 'lucide-react'
import { useToastError } from '../../../../../web/shared/errors.tsx'
import { Badge } from '../../../../../web/ui/badge.tsx'
import { Button } from '../../../../../web/ui/button.tsx'
import { cn } from '../../../../../web/ui/class-names.ts'
import { Notice } from '../../../../../web/ui/form.tsx'
import { bytes, useLanguage, useText } from '../../../../../web/ui/language.ts'
import { Progress } from '../../../../../web/ui/progress.tsx'
import { api, ok } from '../../../api/client.ts'
import { type ModelsOverview, modelsQuery } from '../../../api/queries.ts'
import { Card, memory } from '../section.tsx'
import { modelsText } from './models.text.ts'

type Preset = ModelsOverview['presets'][number]

/** The presets, with how much of this machine's memory each uses. */
export function ModelPresets({ models }: { models: ModelsOverview }) {
  const text = useText(modelsText)
  return (
    <Card title={text.presets} text={models.machine.why}>
      <p className="mb-2 text-sm text-muted text-pretty">{text.checked}</p>
      {models.download ? <DownloadState models={models} /> : null}
      <ul className="flex flex-col">
        {models.presets.map((preset) => (
          <li key={preset.id} className="border-line py-4 not-last:border-b last:pb-0">
            <PresetRow preset={preset} models={models} />
          </li>
        ))}
      </ul>
    </Card>
  )
}

function useDownload() {
  const queryClient = useQueryClient()
  const say = useToastError()
  return useMutation({
    mutationFn: (what: { preset: string } | { url: string; sha256?: string }) =>
      ok(api.POST('/api/cockpit/model/download', { body: { ...what, use: true } })),
    onError: say,
    onSettled: () => queryClient.invalidateQueries({ queryKey: modelsQuery.queryKey }),
  })
}

function PresetRow({ preset, models }: { preset: Preset; models: ModelsOverview }) {
  const text = useText(modelsText)
  const language = useLanguage()
  const start = useDownload()
  const { settings, machine, download } = models
  const isUsed = settings.kind === 'local' && settings.preset === preset.id
  const isBusy = download?.status === 'processing'
  return (
    <div className="flex flex-wrap items-start gap-x-6 gap-y-3">
      <div className="min-w-0 flex-1 basis-64">
        <p className="flex flex-wrap items-center gap-2">
          <span className="font-medium">{preset.name}</span>
          {preset.is_recommended ? <Badge tone="good">{text.recommended}</Badge> : null}
        </p>
        <p className="mt-0.5 text-sm text-muted text-pretty">{preset.about}</p>
        <Ram need={preset.memory_bytes} all={machine.memory_bytes} fits={preset.fits} />
      </div>
      {isUsed ? (
        <span className="flex h-8 items-center gap-1.5 text-sm text-good">
          <Check size={14} aria-hidden />
          {text.in_use}
        </span>
      ) : (
        <Button
          variant={preset.is_recommended && settings.kind === 'none' ? 'primary' : 'secondary'}
          disabled={isBusy}
          isPending={start.isPending}
          icon={preset.is_downloaded ? undefined : <Download size={14} aria-hidden />}
          onClick={() => start.mutate({ preset: preset.id })}
        >
          {preset.is_downloaded ? text.use : text.download(bytes(language, preset.download_bytes))}
        </Button>
      )}
    </div>
  )
}

/** How much of the machine's memory a model takes, as a bar. */
function Ram({ need, all, fits }: { need: number; all: number; fits: boolean }) {
  const text = useText(modelsText)
  const language = useLanguage()
  const share = Math.min(1, need / all)
  return (
    <div className="mt-2 flex items-center gap-3 text-sm">
      <span aria-hidden className="h-1.5 w-28 overflow-hidden rounded-full bg-line">
        <span
          className={cn('block h-full rounded-full', fits ? 'bg-fg' : 'bg-bad')}
          style={{ width: `${share * 100}%` }}
        />
      </span>
      <span className="text-muted whitespace-nowrap" data-numbers>
        {text.ram(bytes(language, need), memory(language, all))}
      </span>
      <span className={fits ? 'text-good' : 'text-bad'}>{fits ? text.fits : text.tight}</span>
    </div>
  )
}

function DownloadState({ models: { download, presets } }: { models: ModelsOverview }) {
  const text = useText(modelsText)
  const language = useLanguage()
  const queryClient = useQueryClient()
  const say = useToastError()
  const start = useDownload()
  const cancel = useMutation({
    mutationFn: () => ok(api.POST('/api/cockpit/model/download/cancel')),
    onError: say,
    onSettled: () => queryClient.invalidateQueries({ queryKey: modelsQuery.queryKey }),
  })
  if (!download || download.status === 'done') return null
  const file = download.url.split('/').at(-1)
  const name = presets.find(({ id }) => id === download.preset)?.name ?? file
  if (download.status !== 'processing') {
    const { preset, url, sha256 } = download
    const again = preset ? { preset } : { url, ...(sha256 ? { sha256 } : {}) }
    return (
      <Notice
        tone={download.status === 'failed' ? 'bad' : 'plain'}
        className="mb-2"
        text={
          <>
            <span className="font-medium">{name}</span>:{' '}
            <span>{download.error ?? text.download_stopped}</span>
          </>
        }
        action={
          <Button size="sm" isPending={start.isPending} onClick={() => start.mutate(again)}>
            {text.resume}
          </Button>
        }
      />
    )
  }
  const total = download.total_bytes
  return (
    <div className="mb-2 rounded-control border border-line px-3 py-2">
      <p className="flex items-center gap-3">
        <span className="min-w-0 flex-1 truncate font-medium" title={name}>
          {name}
        </span>
        <span className="text-sm text-muted" data-numbers>
          {total
            ? text.progress(bytes(language, download.bytes), bytes(language, total))
            : bytes(language, download.bytes)}
        </span>
        <Button size="sm" isPending={cancel.isPending} onClick={() => cancel.mutate()}>
          {text.cancel}
        </Button>
      </p>
      <Progress
        label={text.downloading}
        value={total ? download.bytes : undefined}
        max={total ?? 1}
        className="mt-2"
      />
    </div>
  )
}
