import { moment, texts } from '../words.ts'

const DAMAGED = {
  en: 'Nothing was changed. Take another backup.',
  tr: 'Hiçbir şey değişmedi. Başka bir yedek kullanın.',
}

/** Why a backup was not made, read, sent away or restored. */
export const backupText = texts(
  {
    running: {
      backup: 'A backup is running. Wait for it to end.',
      restore: 'A restore is running. Wait for it to end.',
      other: 'Another backup or restore is running. Wait for it to end.',
    },
    interrupted: 'It was interrupted; what was there stayed as it was.',
    fault: 'Something went wrong here; the log of the hub says what.',
    full_disk: (folder: string) =>
      `The disk of ${folder} is full: no backup was made. Delete old ones or make room.`,
    absent: 'There is no such backup.',
    no_file: (file: string) => `There is no file ${file}, and no backup of that name.`,
    confirm: 'Type the name of the backup to restore it.',
    no_archive: 'This is no backup: it is neither a tar.gz nor encrypted with age.',
    damaged: `The archive is damaged or no backup of this hub. ${DAMAGED.en}`,
    foreign: (path: string) => `The archive holds "${path}", which is no plain file. ${DAMAGED.en}`,
    encrypted:
      'The archive is encrypted. Give its passphrase, or the private age key (AGE-SECRET-KEY-1…).',
    wrong_secret: 'This passphrase or key does not open the archive.',
    no_manifest: `The archive has no manifest: it is no backup of this hub. ${DAMAGED.en}`,
    broken_manifest: 'The archive is damaged: its manifest is no JSON. Take another backup.',
    unusable_manifest: (where: string) =>
      `The archive is damaged: its manifest is not usable (${where}). Take another backup.`,
    unlisted: (path: string) => `"${path}" is not in the archive's manifest. ${DAMAGED.en}`,
    changed: (path: string) => `"${path}" differs from its checksum. ${DAMAGED.en}`,
    missing: (path: string) => `"${path}" is missing in the archive. ${DAMAGED.en}`,
    newer: (version: string) =>
      `The backup was made by version ${version}, which is newer than this hub. Upgrade the hub, then restore.`,
    older: (version: string) =>
      `The backup was made by version ${version}, whose tables were different. Restore it on the server: watchpost-hub restore <file>`,
    other_hub:
      'The backup is of another hub, and this one has people on its suppression list already: the lists cannot be joined. Restore into a fresh installation.',
    unknown_table: (table: string) =>
      `The backup has the table ${table}, which this hub does not know. Restore it with the version that made it.`,
    unknown_column: (column: string) =>
      `The backup has the column ${column}, which this hub does not know. Restore it with the version that made it.`,
    differing: (tables: string) =>
      `These tables do not read back as they were saved: ${tables}. Nothing was changed.`,
    no_fit: (why: string) => `The rows of the backup do not fit its schema: ${why}.`,
    restored: (at: string) => `Restored from the backup of ${moment('en', at)}.`,
    target: {
      silent: (host: string) => `The backup is here, but ${host} did not answer.`,
      refused: (bucket: string, answer: string) =>
        `The backup is here, but the bucket "${bucket}" refused it: ${answer}. Check the target in Settings > Backup.`,
      no_rsync:
        'The backup is here, but rsync is not installed on this machine. Install it, or choose another target in Settings > Backup.',
      rsync: (why: string) =>
        `The backup is here, but rsync failed: ${why}. Check the target in Settings > Backup.`,
      rsync_silent:
        'The backup is here, but rsync failed and gave no reason. Check the target in Settings > Backup.',
    },
  },
  {
    running: {
      backup: 'Bir yedekleme sürüyor. Bitmesini bekleyin.',
      restore: 'Bir geri yükleme sürüyor. Bitmesini bekleyin.',
      other: 'Başka bir yedekleme ya da geri yükleme sürüyor. Bitmesini bekleyin.',
    },
    interrupted: 'Yarıda kesildi; var olan olduğu gibi kaldı.',
    fault: 'Burada bir sorun oluştu; ayrıntısı hub’ın günlüğünde.',
    full_disk: (folder) =>
      `Disk dolu (${folder}): yedek alınamadı. Eski yedekleri silin ya da yer açın.`,
    absent: 'Böyle bir yedek yok.',
    no_file: (file) => `Böyle bir dosya ya da bu adda bir yedek yok: ${file}`,
    confirm: 'Geri yüklemek için yedeğin adını yazın.',
    no_archive: 'Bu bir yedek değil: tar.gz de değil, age ile şifrelenmiş de değil.',
    damaged: `Arşiv bozuk ya da bu hub’ın yedeği değil. ${DAMAGED.tr}`,
    foreign: (path) => `Arşivde düz dosya olmayan bir şey var: “${path}”. ${DAMAGED.tr}`,
    encrypted: 'Arşiv şifreli. Parolasını ya da özel age anahtarını (AGE-SECRET-KEY-1…) girin.',
    wrong_secret: 'Bu parola ya da anahtar arşivi açmıyor.',
    no_manifest: `Arşivin içerik listesi yok: bu hub’ın yedeği değil. ${DAMAGED.tr}`,
    broken_manifest: 'Arşiv bozuk: içerik listesi JSON değil. Başka bir yedek kullanın.',
    unusable_manifest: (where) =>
      `Arşiv bozuk: içerik listesi kullanılamıyor (${where}). Başka bir yedek kullanın.`,
    unlisted: (path) => `“${path}” arşivin içerik listesinde yok. ${DAMAGED.tr}`,
    changed: (path) => `“${path}” sağlamasına uymuyor. ${DAMAGED.tr}`,
    missing: (path) => `“${path}” arşivde eksik. ${DAMAGED.tr}`,
    newer: (version) =>
      `Yedeği alan sürüm (${version}) bu hub’dan yeni. Önce hub’ı yükseltin, sonra geri yükleyin.`,
    older: (version) =>
      `Yedeği alan sürümün (${version}) tabloları farklıydı. Sunucuda geri yükleyin: watchpost-hub restore <dosya>`,
    other_hub:
      'Yedek başka bir hub’ın ve bu hub’ın engelleme listesinde kişiler var: listeler birleştirilemez. Yeni bir kuruluma geri yükleyin.',
    unknown_table: (table) =>
      `Yedekte bu hub’ın bilmediği bir tablo var: ${table}. Yedeği alan sürümle geri yükleyin.`,
    unknown_column: (column) =>
      `Yedekte bu hub’ın bilmediği bir sütun var: ${column}. Yedeği alan sürümle geri yükleyin.`,
    differing: (tables) =>
      `Şu tablolar kaydedildiği gibi geri okunmuyor: ${tables}. Hiçbir şey değişmedi.`,
    no_fit: (why) => `Yedekteki satırlar şemasına uymuyor: ${why}.`,
    restored: (at) => `Geri yüklenen yedeğin tarihi: ${moment('tr', at)}.`,
    target: {
      silent: (host) => `Yedek burada, ama ${host} yanıt vermedi.`,
      refused: (bucket, answer) =>
        `Yedek burada, ama “${bucket}” kovası kabul etmedi: ${answer}. Hedefi Ayarlar > Yedek altında denetleyin.`,
      no_rsync:
        'Yedek burada, ama bu makinede rsync kurulu değil. Kurun ya da Ayarlar > Yedek altında başka bir hedef seçin.',
      rsync: (why) =>
        `Yedek burada, ama rsync hata verdi: ${why}. Hedefi Ayarlar > Yedek altında denetleyin.`,
      rsync_silent:
        'Yedek burada, ama rsync neden belirtmeden hata verdi. Hedefi Ayarlar > Yedek altında denetleyin.',
    },
  },
)
