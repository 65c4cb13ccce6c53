import { decimal, moment, texts } from '../i18n/words.ts'

/** The text of each health alert. */
export const healthText = texts(
  {
    disk: (gib: number) =>
      `Disk space is low: ${decimal('en', gib)} GiB free where the hub keeps its data.`,
    memory: (percent: number) => `Memory is low: ${percent} % free. A smaller model needs less.`,
    database: 'The database does not answer.',
    queue: (stuck: number) =>
      `The queue is stuck: ${stuck === 1 ? '1 mission has' : `${stuck} missions have`} been waiting for over an hour, and none is running.`,
    crashed: (why: string) => `The model crashed: ${why}`,
    unreachable: 'The model cannot be reached.',
    unknown: 'the reason is unknown',
    backup_failed: (why: string) => `The last backup failed. ${why}`,
    no_backup: 'There is no backup from the last two days.',
    old_backup: (at: string) =>
      `There is no backup from the last two days; the last one was made on ${moment('en', at)}.`,
    mail: (why: string) => `Mail delivery has a problem: ${why}`,
  },
  {
    disk: (gib) => `Disk alanı az: hub’ın veri klasöründe ${decimal('tr', gib)} GiB boş.`,
    memory: (percent) =>
      `Bellek az: %${percent} boş. Daha küçük bir model daha az bellek kullanır.`,
    database: 'Veritabanı yanıt vermiyor.',
    queue: (stuck) =>
      `Kuyruk takıldı: ${stuck} görev bir saatten uzun süredir bekliyor, hiçbiri çalışmıyor.`,
    crashed: (why) => `Model çöktü: ${why}`,
    unreachable: 'Modele ulaşılamıyor.',
    unknown: 'nedeni bilinmiyor',
    backup_failed: (why) => `Son yedekleme başarısız oldu. ${why}`,
    no_backup: 'Son iki günün yedeği yok.',
    old_backup: (at) => `Son iki günün yedeği yok; sonuncusunun tarihi: ${moment('tr', at)}.`,
    mail: (why) => `E-posta tesliminde sorun var: ${why}`,
  },
)
