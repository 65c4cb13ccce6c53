import { texts } from '../i18n/words.ts'

/** The actions that the system agent may propose, and the outcome reported for each. */
export const actionText = texts(
  {
    ask: {
      retry_failed_missions: 'Run the missions that failed in the last 24 hours again.',
      restart_model: 'Restart the model process; answers in progress are requested again.',
      restart_hub: 'Restart the hub; missions continue where they stopped.',
      run_backup: 'Make a backup now.',
      pause_mail: 'Pause all mail until you confirm it in Settings > Mail.',
      delete_old_backups: 'Delete backups beyond the retention setting to free disk space.',
    },
    approved: 'Proposed by the system agent and approved.',
    done: {
      retry_failed_missions: (count: number) =>
        count === 1 ? '1 mission is being retried.' : `${count} missions are being retried.`,
      restart_model: 'The model is restarting.',
      restart_hub: 'The hub is restarting.',
      run_backup: (name: string) => `Backup made: ${name}.`,
      pause_mail: 'Mail is paused until you confirm it in Settings > Mail.',
      delete_old_backups: (count: number) =>
        count === 1 ? 'Deleted 1 backup.' : `Deleted ${count} backups.`,
    },
  },
  {
    ask: {
      retry_failed_missions: 'Son 24 saatte başarısız olan görevleri yeniden çalıştır.',
      restart_model: 'Model sürecini yeniden başlat; yarım kalan yanıtlar yeniden istenir.',
      restart_hub: 'Hub’ı yeniden başlat; görevler kaldıkları yerden devam eder.',
      run_backup: 'Şimdi yedek al.',
      pause_mail: 'Ayarlar > E-posta bölümünde onaylayana kadar tüm gönderimi duraklat.',
      delete_old_backups: 'Disk alanı açmak için saklama süresini aşan yedekleri sil.',
    },
    approved: 'Sistem ajanı önerdi, onaylandı.',
    done: {
      retry_failed_missions: (count) => `${count} görev yeniden deneniyor.`,
      restart_model: 'Model yeniden başlıyor.',
      restart_hub: 'Hub yeniden başlıyor.',
      run_backup: (name) => `Yedek alındı: ${name}.`,
      pause_mail: 'Gönderim, Ayarlar > E-posta bölümünde onaylayana kadar duraklatıldı.',
      delete_old_backups: (count) => `${count} yedek silindi.`,
    },
  },
)
