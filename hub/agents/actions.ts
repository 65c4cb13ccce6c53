import { z } from 'zod'
import type { Words } from '../words.ts'

/** What the system agent may propose; nothing else is ever done, whatever a model or a log says. */
export const ACTIONS = {
  retry_failed_missions: {
    words: {
      en: 'Run the missions that failed in the last 24 hours again.',
      tr: 'Son 24 saatte başarısız olan görevleri yeniden çalıştır.',
    },
    is_destructive: false,
  },
  restart_model: {
    words: {
      en: 'Restart the model process; running answers are asked again.',
      tr: 'Model sürecini yeniden başlat; süren yanıtlar yeniden istenir.',
    },
    is_destructive: false,
  },
  restart_hub: {
    words: {
      en: 'Restart the hub; missions go on where they were.',
      tr: 'Hub’ı yeniden başlat; görevler kaldıkları yerden sürer.',
    },
    is_destructive: false,
  },
  run_backup: {
    words: { en: 'Make a backup now.', tr: 'Şimdi yedek al.' },
    is_destructive: false,
  },
  pause_mail: {
    words: {
      en: 'Pause all mail until you confirm it in Settings > Mail.',
      tr: 'Ayarlar > Posta’da onaylanana kadar tüm gönderimi durdur.',
    },
    is_destructive: false,
  },
  delete_old_backups: {
    words: {
      en: 'Delete backups beyond the retention setting to free disk space.',
      tr: 'Disk alanı açmak için saklama süresini aşan yedekleri sil.',
    },
    is_destructive: true,
  },
} as const satisfies Record<string, { words: Words; is_destructive: boolean }>

export type ActionName = keyof typeof ACTIONS
export const ActionName = z.enum(Object.keys(ACTIONS) as [ActionName, ...ActionName[]]) // safe: constant keys

/** What this hub can do of them, and what it knows of its own health. */
export type Actions = {
  run: Partial<Record<ActionName, () => Promise<string>>>
  health: () => Promise<Record<string, string | number | null>>
  /** What settings allow agents to do beyond the ordinary. */
  allowed: () => Promise<{ engineer_system: boolean; web: 'ask' | 'allow' | 'deny' }>
}
