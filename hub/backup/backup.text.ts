import { moment, texts } from '../i18n/words.ts'

const DAMAGED = {
  en: 'Nothing was changed. Take another backup.',
  tr: 'Hiçbir şey değişmedi. Başka bir yedek kullanın.',
}

/** A name of somebody else's making, as it can be shown: no line ends, no orders to a terminal. */
function shown(name: string): string {
  const plain = String(name).replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, '\uFFFD')
  return plain.length > 200 ? `${plain.slice(0, 200)}…` : plain
}

const MIB = 2 ** 20

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
    is_link: (file: string) => `${file} is a link. Name the file itself.`,
    not_of_the_hub: (file: string) =>
      `${file} belongs to another user than the hub's, within the hub's folder. Move it out of there and name it anew.`,
    confirm: 'Type the name of the backup to restore it.',
    no_archive: 'This is no backup: it is neither a tar.gz nor encrypted with age.',
    damaged: `The archive is damaged or no backup of this hub. ${DAMAGED.en}`,
    foreign: (path: string) =>
      `The archive holds "${shown(path)}", which is no plain file. ${DAMAGED.en}`,
    encrypted:
      'The archive is encrypted. Give its passphrase, or the private age key (AGE-SECRET-KEY-1…).',
    wrong_secret: 'This passphrase or key does not open the archive.',
    no_manifest: `The archive has no manifest: it is no backup of this hub. ${DAMAGED.en}`,
    broken_manifest: 'The archive is damaged: its manifest is no JSON. Take another backup.',
    unusable_manifest: (where: string) =>
      `The archive is damaged: its manifest is not usable (${where}). Take another backup.`,
    unlisted: (path: string) => `"${shown(path)}" is not in the archive's manifest. ${DAMAGED.en}`,
    changed: (path: string) => `"${shown(path)}" differs from its checksum. ${DAMAGED.en}`,
    missing: (path: string) => `"${shown(path)}" is missing in the archive. ${DAMAGED.en}`,
    twice: (path: string) => `"${shown(path)}" is in the archive twice. ${DAMAGED.en}`,
    sized: (path: string, is: number, said: number) =>
      `"${shown(path)}" has ${is} bytes, and the manifest says ${said}. ${DAMAGED.en}`,
    swollen: `The archive unpacks to more than its manifest says. ${DAMAGED.en}`,
    too_many:
      'The hub has more files than a backup can list (200,000). Move some out of the folders of its projects.',
    no_room: (bytes: number) =>
      `The archive unpacks to ${Math.ceil(bytes / MIB)} MiB, and the disk has no room for them. Make room and try again.`,
    wrong_signature: `The archive's signature does not fit its manifest. ${DAMAGED.en}`,
    not_ours: (path: string) =>
      `The archive holds "${shown(path)}", which no backup of a hub has. ${DAMAGED.en}`,
    unusable_setting: (path: string, field: string) =>
      `"${shown(path)}" in the archive is not usable${field ? ` (${shown(field)})` : ''}. ${DAMAGED.en}`,
    no_salt:
      'The archive has people who opted out, but not the salt their list needs (config/suppression.salt): their opt-outs would count no more. Nothing was changed.',
    many_salts:
      'The suppression list would then be joined of more than 50 hubs. Nothing was changed. Restore into a fresh installation.',
    trust: 'I trust this archive',
    elsewhere: (signer: string) =>
      `Another hub signed this archive (key ${signer}). Whoever made it decides what this hub then shows, writes and proposes. Compare the key with what watchpost-hub status shows on that hub, and type: I trust this archive`,
    unsigned:
      'No hub signed this archive. Whoever made it decides what this hub then shows, writes and proposes. If you know where it comes from, type: I trust this archive',
    powers: {
      mail: (where: string) => `Mail: servers, sender and passwords (${where})`,
      no_server: 'no server',
      models: (where: string) => `Model: every prompt goes to ${where}`,
      no_model: 'Model: none',
      backup: (where: string) => `Backups: a copy goes to ${where}`,
      backup_here: 'Backups: hour, number and encryption',
      agents: (web: string, patches: string) => `Agents: ${web}; ${patches}`,
    },
    web: {
      ask: 'they ask before they read the web',
      allow: 'they read the web without asking',
      deny: 'they never read the web',
    },
    patches: {
      yes: 'engineer_system may write patches for the hub',
      no: 'engineer_system is off',
    },
    newer: (version: string) =>
      `The backup was made by version ${version}, which is newer than this hub. Upgrade the hub, then restore.`,
    older: (version: string) =>
      `The backup was made by version ${version}, whose tables were different. Restore it on the server: watchpost-hub restore <file>`,
    unknown_table: (table: string) =>
      `The backup has the table ${table}, which this hub does not know. Restore it with the version that made it.`,
    unknown_column: (column: string) =>
      `The backup has the column ${column}, which this hub does not know. Restore it with the version that made it.`,
    missing_table: (table: string) =>
      `The backup lacks "${table}", which its version has. Nothing was changed. Take another backup.`,
    rows: (table: string, is: number, said: number) =>
      `The table ${table} has ${is} rows in the backup, and its manifest says ${said}. Nothing was changed.`,
    unusable_value: (column: string) =>
      `The backup has a value in ${column} that this hub cannot read. Nothing was changed.`,
    differing: (tables: string) =>
      `These tables do not read back as they were saved: ${tables}. Nothing was changed.`,
    no_fit: (why: string) => `The rows of the backup do not fit its schema: ${shown(why)}.`,
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
    is_link: (file) => `${file} bir bağlantı. Dosyanın kendisini yazın.`,
    not_of_the_hub: (file) =>
      `Hub’ın klasöründeki ${file} başka bir kullanıcının. Oradan taşıyıp yeni yerini yazın.`,
    confirm: 'Geri yüklemek için yedeğin adını yazın.',
    no_archive: 'Bu bir yedek değil: tar.gz de değil, age ile şifrelenmiş de değil.',
    damaged: `Arşiv bozuk ya da bu hub’ın yedeği değil. ${DAMAGED.tr}`,
    foreign: (path) => `Arşivde düz dosya olmayan bir şey var: “${shown(path)}”. ${DAMAGED.tr}`,
    encrypted: 'Arşiv şifreli. Parolasını ya da özel age anahtarını (AGE-SECRET-KEY-1…) girin.',
    wrong_secret: 'Bu parola ya da anahtar arşivi açmıyor.',
    no_manifest: `Arşivin içerik listesi yok: bu hub’ın yedeği değil. ${DAMAGED.tr}`,
    broken_manifest: 'Arşiv bozuk: içerik listesi JSON değil. Başka bir yedek kullanın.',
    unusable_manifest: (where) =>
      `Arşiv bozuk: içerik listesi kullanılamıyor (${where}). Başka bir yedek kullanın.`,
    unlisted: (path) => `“${shown(path)}” arşivin içerik listesinde yok. ${DAMAGED.tr}`,
    changed: (path) => `“${shown(path)}” sağlamasına uymuyor. ${DAMAGED.tr}`,
    missing: (path) => `“${shown(path)}” arşivde eksik. ${DAMAGED.tr}`,
    twice: (path) => `“${shown(path)}” arşivde iki kez var. ${DAMAGED.tr}`,
    sized: (path, is, said) =>
      `“${shown(path)}” ${is} bayt, oysa içerik listesine göre ${said} bayt olmalı. ${DAMAGED.tr}`,
    swollen: `Arşivden, içerik listesinde yazandan fazlası çıkıyor. ${DAMAGED.tr}`,
    too_many:
      'Hub’da bir yedeğin sıralayabileceğinden çok dosya var (200.000). Proje klasörlerinden bir kısmını taşıyın.',
    no_room: (bytes) =>
      `Arşiv açılınca ${Math.ceil(bytes / MIB)} MiB tutuyor, diskte bu kadar yer yok. Yer açıp yeniden deneyin.`,
    wrong_signature: `Arşivin imzası içerik listesine uymuyor. ${DAMAGED.tr}`,
    not_ours: (path) =>
      `Arşivde hiçbir hub yedeğinde olmayan bir şey var: “${shown(path)}”. ${DAMAGED.tr}`,
    unusable_setting: (path, field) =>
      `Arşivdeki “${shown(path)}” kullanılamıyor${field ? ` (${shown(field)})` : ''}. ${DAMAGED.tr}`,
    no_salt:
      'Arşivde posta almak istemeyenler var, ama listelerinin gerektirdiği tuz (config/suppression.salt) yok: istekleri artık geçmezdi. Hiçbir şey değişmedi.',
    many_salts:
      'Engelleme listesi 50’den çok hub’ın listesinden oluşacaktı. Hiçbir şey değişmedi. Yeni bir kuruluma geri yükleyin.',
    trust: 'Bu arşive güveniyorum',
    elsewhere: (signer) =>
      `Bu arşivi başka bir hub imzalamış (anahtar ${signer}). Bu hub’ın ne göstereceğini, ne yazacağını ve ne önereceğini arşivi hazırlayan belirler. Anahtarı, o hub’da watchpost-hub status komutunun gösterdiğiyle karşılaştırın ve şunu yazın: Bu arşive güveniyorum`,
    unsigned:
      'Bu arşivi hiçbir hub imzalamamış. Bu hub’ın ne göstereceğini, ne yazacağını ve ne önereceğini arşivi hazırlayan belirler. Nereden geldiğini biliyorsanız şunu yazın: Bu arşive güveniyorum',
    powers: {
      mail: (where) => `E-posta: sunucular, gönderen ve parolalar (${where})`,
      no_server: 'sunucu yok',
      models: (where) => `Model: tüm istemler şuraya gider: ${where}`,
      no_model: 'Model: yok',
      backup: (where) => `Yedekler: bir kopyası şuraya gider: ${where}`,
      backup_here: 'Yedekler: saat, sayı ve şifreleme',
      agents: (web, patches) => `Ajanlar: ${web}; ${patches}`,
    },
    web: {
      ask: 'web’i okumadan önce sorarlar',
      allow: 'web’i sormadan okurlar',
      deny: 'web’i hiç okumazlar',
    },
    patches: {
      yes: 'engineer_system hub için yama yazabilir',
      no: 'engineer_system kapalı',
    },
    newer: (version) =>
      `Yedeği alan sürüm (${version}) bu hub’dan yeni. Önce hub’ı yükseltin, sonra geri yükleyin.`,
    older: (version) =>
      `Yedeği alan sürümün (${version}) tabloları farklıydı. Sunucuda geri yükleyin: watchpost-hub restore <dosya>`,
    unknown_table: (table) =>
      `Yedekte bu hub’ın bilmediği bir tablo var: ${table}. Yedeği alan sürümle geri yükleyin.`,
    unknown_column: (column) =>
      `Yedekte bu hub’ın bilmediği bir sütun var: ${column}. Yedeği alan sürümle geri yükleyin.`,
    missing_table: (table) =>
      `Yedekte, sürümünde olması gereken “${table}” yok. Hiçbir şey değişmedi. Başka bir yedek kullanın.`,
    rows: (table, is, said) =>
      `${table} tablosunda yedekte ${is} satır var, içerik listesi ise ${said} diyor. Hiçbir şey değişmedi.`,
    unusable_value: (column) =>
      `Yedekte ${column} sütununda bu hub’ın okuyamadığı bir değer var. Hiçbir şey değişmedi.`,
    differing: (tables) =>
      `Şu tablolar kaydedildiği gibi geri okunmuyor: ${tables}. Hiçbir şey değişmedi.`,
    no_fit: (why) => `Yedekteki satırlar şemasına uymuyor: ${shown(why)}.`,
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
