import { moment, texts } from '../i18n/words.ts'

const DAMAGED = {
  en: 'Nothing was changed. Use another backup.',
  tr: 'Hiçbir şey değişmedi. Başka bir yedek kullanın.',
}

/**
 * A name from an untrusted archive, safe to print: no control characters, at most 200 characters.
 */
function shown(name: string): string {
  const plain = String(name).replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, '\uFFFD')
  return plain.length > 200 ? `${plain.slice(0, 200)}…` : plain
}

const MIB = 2 ** 20

/** Why a backup was not made, read, copied to its target or restored. */
export const backupText = texts(
  {
    running: {
      backup: 'A backup is running. Wait for it to finish.',
      restore: 'A restore is running. Wait for it to finish.',
      other: 'Another backup or restore is running. Wait for it to finish.',
    },
    interrupted: 'It was interrupted. Nothing was changed.',
    fault: 'The hub failed. Its log has the details.',
    full_disk: (folder: string) =>
      `The disk with ${folder} is full, so no backup was made. Delete old backups or free some space.`,
    unreadable: (path: string) =>
      `The hub cannot read "${shown(path)}" in its data folder, so no backup was made. Give the file to the user of the hub (chown watchpost), or move it away.`,
    left_out: (path: string, count: number) =>
      count === 1
        ? `The backup lacks "${shown(path)}", whose name is not UTF-8. Rename it.`
        : `The backup lacks "${shown(path)}" and ${count - 1} more, whose names are not UTF-8. Rename them.`,
    would_lose: (path: string, count: number) =>
      count === 1
        ? `"${shown(path)}" would be lost: its name is not UTF-8, so no backup can hold it. Nothing was changed. Rename it or move it away, then restore.`
        : `"${shown(path)}" and ${count - 1} more would be lost: their names are not UTF-8, so no backup can hold them. Nothing was changed. Rename them or move them away, then restore.`,
    absent: 'This backup does not exist.',
    no_file: (file: string) => `There is no file or backup named ${file}.`,
    is_link: (file: string) => `${file} is a symbolic link. Give the path of the file itself.`,
    not_of_the_hub: (file: string) =>
      `${file} is in the hub's folder but belongs to another user. Move it to another folder and try again.`,
    confirm: 'Type the name of the backup to restore it.',
    no_archive: 'This file is not a backup: it is neither a tar.gz archive nor encrypted with age.',
    damaged: `The archive is damaged or is not a hub backup. ${DAMAGED.en}`,
    foreign: (path: string) =>
      `The archive contains "${shown(path)}", which is not a regular file. ${DAMAGED.en}`,
    encrypted:
      'The archive is encrypted. Enter its passphrase or the private age key (AGE-SECRET-KEY-1…).',
    wrong_secret: 'This passphrase or key does not open the archive.',
    no_manifest: `The archive has no manifest, so it is not a hub backup. ${DAMAGED.en}`,
    broken_manifest: 'The archive is damaged: its manifest is not JSON. Use another backup.',
    unusable_manifest: (where: string) =>
      `The archive is damaged: its manifest is invalid (${where}). Use another backup.`,
    unlisted: (path: string) => `"${shown(path)}" is not in the archive's manifest. ${DAMAGED.en}`,
    changed: (path: string) => `"${shown(path)}" does not match its checksum. ${DAMAGED.en}`,
    missing: (path: string) => `"${shown(path)}" is missing from the archive. ${DAMAGED.en}`,
    twice: (path: string) => `"${shown(path)}" is in the archive twice. ${DAMAGED.en}`,
    sized: (path: string, is: number, said: number) =>
      `"${shown(path)}" has ${is} bytes, but the manifest says ${said}. ${DAMAGED.en}`,
    swollen: `The archive unpacks to more data than its manifest lists. ${DAMAGED.en}`,
    too_many:
      'The hub has more than 200,000 files, the most a backup can hold. Move some out of the project folders.',
    no_room: (bytes: number) =>
      `The archive unpacks to ${Math.ceil(bytes / MIB)} MiB, and the disk has too little space for that. Free some space and try again.`,
    no_room_for_upload:
      'The disk has too little space for this file. Free some space, or restore it on the server: watchpost-hub restore <file>',
    wrong_signature: `The archive's signature does not match its manifest. ${DAMAGED.en}`,
    not_ours: (path: string) =>
      `The archive contains "${shown(path)}", which is never part of a hub backup. ${DAMAGED.en}`,
    unusable_setting: (path: string, field: string) =>
      `"${shown(path)}" in the archive is invalid${field ? ` (${shown(field)})` : ''}. ${DAMAGED.en}`,
    no_salt:
      'The archive has a suppression list, but not the salt it needs (config/suppression.salt). Without it, people who opted out would get mail again. Nothing was changed.',
    many_salts:
      'The suppression list would then combine the lists of more than 50 hubs. Nothing was changed. Restore into a fresh installation.',
    trust: 'I trust this archive',
    elsewhere: (signer: string) =>
      `Another hub signed this archive (key ${signer}). Whoever made it decides what this hub will show, write and propose. Compare the key with the one that watchpost-hub status shows on that hub, then type: I trust this archive`,
    unsigned:
      'This archive is not signed by any hub. Whoever made it decides what this hub will show, write and propose. If you know where it comes from, type: I trust this archive',
    powers: {
      mail: (where: string) => `Mail: servers, sender and passwords (${where})`,
      no_server: 'no server',
      models: (where: string) => `Model: every prompt goes to ${where}`,
      no_model: 'Model: none',
      backup: (where: string) => `Backups: a copy goes to ${where}`,
      backup_here: 'Backups: time, number kept and encryption',
      agents: (web: string, patches: string) => `Agents: ${web}; ${patches}`,
    },
    web: {
      ask: 'they ask before reading the web',
      allow: 'they read the web without asking',
      deny: 'they never read the web',
    },
    patches: {
      yes: 'engineer_system may write patches for the hub',
      no: 'engineer_system is off',
    },
    newer: (version: string) =>
      `The backup was made by version ${version}, which is newer than this hub. Upgrade the hub first, then restore.`,
    older: (version: string) =>
      `The backup was made by version ${version}, which had different tables. Restore it on the server: watchpost-hub restore <file>`,
    unknown_table: (table: string) =>
      `The backup has the table ${table}, which this hub does not know. Restore it with the version that made it.`,
    unknown_column: (column: string) =>
      `The backup has the column ${column}, which this hub does not know. Restore it with the version that made it.`,
    missing_table: (table: string) =>
      `The backup lacks "${table}", which its version has. Nothing was changed. Use another backup.`,
    rows: (table: string, is: number, said: number) =>
      `The table ${table} has ${is} rows in the backup, but its manifest says ${said}. Nothing was changed.`,
    unusable_value: (column: string) =>
      `The backup has a value in ${column} that this hub cannot read. Nothing was changed.`,
    differing: (tables: string) =>
      `After loading, these tables differ from the backup: ${tables}. Nothing was changed.`,
    no_fit: (why: string) => `The backup's rows do not match its schema: ${shown(why)}.`,
    restored: (at: string) => `Restored from the backup of ${moment('en', at)}.`,
    target: {
      silent: (host: string) => `The backup was made, but ${host} did not answer.`,
      refused: (bucket: string, answer: string) =>
        `The backup was made, but the bucket "${bucket}" refused the copy: ${answer}. Check the target in Settings > Manual backup.`,
      no_rsync:
        'The backup was made, but rsync is not installed on this machine. Install it, or choose another target in Settings > Manual backup.',
      rsync: (why: string) =>
        `The backup was made, but rsync failed: ${why}. Check the target in Settings > Manual backup.`,
      rsync_silent:
        'The backup was made, but rsync failed without giving a reason. Check the target in Settings > Manual backup.',
      other_host:
        'The backup was made, but not copied: the server does not show the key that is stored for it. Check whether it was exchanged, and read its key in Settings > Manual backup.',
      unauthorized:
        'The backup was made, but not copied: the server does not accept the key of this hub. Add the key shown in Settings > Manual backup to ~/.ssh/authorized_keys on the server.',
      no_key:
        'The backup was made, but this hub has no SSH key. Save the target in Settings > Manual backup, and allow the new key on the server.',
      no_ssh: 'Only a destination of the form user@host:folder is reached by SSH.',
      no_ssh_client: 'OpenSSH is not installed on this machine. Install openssh-client.',
      no_host_key: (host: string, port: number) =>
        `No SSH server answered at ${host}, port ${port}. Check the host and the port.`,
    },
  },
  {
    running: {
      backup: 'Bir yedekleme sürüyor. Bitmesini bekleyin.',
      restore: 'Bir geri yükleme sürüyor. Bitmesini bekleyin.',
      other: 'Başka bir yedekleme ya da geri yükleme sürüyor. Bitmesini bekleyin.',
    },
    interrupted: 'Yarıda kesildi. Hiçbir şey değişmedi.',
    fault: 'Hub’da bir hata oluştu. Ayrıntılar günlükte.',
    full_disk: (folder) =>
      `Disk dolu (${folder}): yedek alınamadı. Eski yedekleri silin ya da yer açın.`,
    unreadable: (path) =>
      `Hub, veri klasöründeki “${shown(path)}” öğesini okuyamıyor; bu yüzden yedek alınamadı. Dosyayı hub’ın kullanıcısına verin (chown watchpost) ya da başka bir yere taşıyın.`,
    left_out: (path, count) =>
      count === 1
        ? `Yedekte “${shown(path)}” yok, çünkü adı UTF-8 değil. Adını değiştirin.`
        : `Yedekte “${shown(path)}” ile ${count - 1} öğe daha yok, çünkü adları UTF-8 değil. Adlarını değiştirin.`,
    would_lose: (path, count) =>
      count === 1
        ? `“${shown(path)}” kaybolurdu: adı UTF-8 olmadığından hiçbir yedeğe giremiyor. Hiçbir şey değişmedi. Adını değiştirin ya da başka bir yere taşıyın, sonra geri yükleyin.`
        : `“${shown(path)}” ile ${count - 1} öğe daha kaybolurdu: adları UTF-8 olmadığından hiçbir yedeğe giremiyor. Hiçbir şey değişmedi. Adlarını değiştirin ya da başka bir yere taşıyın, sonra geri yükleyin.`,
    absent: 'Böyle bir yedek yok.',
    no_file: (file) => `Bu adda bir dosya ya da yedek yok: ${file}`,
    is_link: (file) => `${file} sembolik bir bağlantı. Dosyanın kendi yolunu yazın.`,
    not_of_the_hub: (file) =>
      `${file} hub’ın klasöründe ama başka bir kullanıcıya ait. Başka bir klasöre taşıyıp yeniden deneyin.`,
    confirm: 'Geri yüklemek için yedeğin adını yazın.',
    no_archive: 'Bu dosya bir yedek değil: ne tar.gz arşivi ne de age ile şifrelenmiş.',
    damaged: `Arşiv bozuk ya da bu hub’ın yedeği değil. ${DAMAGED.tr}`,
    foreign: (path) => `Arşivdeki “${shown(path)}” sıradan bir dosya değil. ${DAMAGED.tr}`,
    encrypted: 'Arşiv şifreli. Parolasını ya da özel age anahtarını (AGE-SECRET-KEY-1…) girin.',
    wrong_secret: 'Bu parola ya da anahtar arşivi açmıyor.',
    no_manifest: `Arşivin içerik listesi yok: bu hub’ın yedeği değil. ${DAMAGED.tr}`,
    broken_manifest: 'Arşiv bozuk: içerik listesi JSON değil. Başka bir yedek kullanın.',
    unusable_manifest: (where) =>
      `Arşiv bozuk: içerik listesi kullanılamıyor (${where}). Başka bir yedek kullanın.`,
    unlisted: (path) => `“${shown(path)}” arşivin içerik listesinde yok. ${DAMAGED.tr}`,
    changed: (path) => `“${shown(path)}” sağlama toplamıyla uyuşmuyor. ${DAMAGED.tr}`,
    missing: (path) => `“${shown(path)}” arşivde eksik. ${DAMAGED.tr}`,
    twice: (path) => `“${shown(path)}” arşivde iki kez var. ${DAMAGED.tr}`,
    sized: (path, is, said) =>
      `“${shown(path)}” ${is} bayt; içerik listesine göre ${said} bayt olmalı. ${DAMAGED.tr}`,
    swollen: `Arşivden içerik listesindekinden fazla veri çıkıyor. ${DAMAGED.tr}`,
    too_many:
      'Hub’da 200.000’den fazla dosya var; bir yedek en çok bu kadarını tutar. Proje klasörlerinden bazılarını taşıyın.',
    no_room: (bytes) =>
      `Arşiv açılınca ${Math.ceil(bytes / MIB)} MiB yer tutuyor; diskte bu kadar yer yok. Yer açıp yeniden deneyin.`,
    no_room_for_upload:
      'Diskte bu dosya için yeterli yer yok. Yer açın ya da yedeği sunucuda geri yükleyin: watchpost-hub restore <dosya>',
    wrong_signature: `Arşivin imzası içerik listesine uymuyor. ${DAMAGED.tr}`,
    not_ours: (path) =>
      `Arşivde hiçbir hub yedeğinde olmayan bir şey var: “${shown(path)}”. ${DAMAGED.tr}`,
    unusable_setting: (path, field) =>
      `Arşivdeki “${shown(path)}” kullanılamıyor${field ? ` (${shown(field)})` : ''}. ${DAMAGED.tr}`,
    no_salt:
      'Arşivde engelleme listesi var, ama listenin gerektirdiği tuz (config/suppression.salt) yok. Onsuz, e-posta almak istemeyenlere yeniden e-posta giderdi. Hiçbir şey değişmedi.',
    many_salts:
      'Engelleme listesi 50’den fazla hub’ın listesini içerecekti. Hiçbir şey değişmedi. Yeni bir kuruluma geri yükleyin.',
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
      backup_here: 'Yedekler: saat, saklanacak sayı ve şifreleme',
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
      `Yüklemeden sonra şu tablolar yedektekinden farklı: ${tables}. Hiçbir şey değişmedi.`,
    no_fit: (why) => `Yedekteki satırlar şemasına uymuyor: ${shown(why)}.`,
    restored: (at) => `Geri yüklenen yedeğin tarihi: ${moment('tr', at)}.`,
    target: {
      silent: (host) => `Yedek alındı, ama ${host} yanıt vermedi.`,
      refused: (bucket, answer) =>
        `Yedek alındı, ama “${bucket}” kovası kopyayı kabul etmedi: ${answer}. Hedefi Ayarlar > Elle yedekleme bölümünde denetleyin.`,
      no_rsync:
        'Yedek alındı, ama bu makinede rsync kurulu değil. Kurun ya da Ayarlar > Elle yedekleme bölümünde başka bir hedef seçin.',
      rsync: (why) =>
        `Yedek alındı, ama rsync hata verdi: ${why}. Hedefi Ayarlar > Elle yedekleme bölümünde denetleyin.`,
      rsync_silent:
        'Yedek alındı, ama rsync neden belirtmeden hata verdi. Hedefi Ayarlar > Elle yedekleme bölümünde denetleyin.',
      other_host:
        'Yedek alındı, ama kopyalanmadı: sunucu, kayıtlı anahtarını göstermiyor. Sunucunun değişip değişmediğini denetleyin ve anahtarını Ayarlar > Elle yedekleme bölümünde okuyun.',
      unauthorized:
        'Yedek alındı, ama kopyalanmadı: sunucu bu hub’ın anahtarını kabul etmiyor. Ayarlar > Elle yedekleme bölümündeki anahtarı sunucuda ~/.ssh/authorized_keys dosyasına ekleyin.',
      no_key:
        'Yedek alındı, ama bu hub’ın SSH anahtarı yok. Hedefi Ayarlar > Elle yedekleme bölümünde kaydedin ve yeni anahtara sunucuda izin verin.',
      no_ssh: 'SSH ile yalnızca kullanıcı@makine:klasör biçimindeki hedeflere ulaşılır.',
      no_ssh_client: 'Bu makinede OpenSSH kurulu değil. openssh-client paketini kurun.',
      no_host_key: (host, port) =>
        `${host} adresinde, ${port} numaralı kapıda bir SSH sunucusu yanıt vermedi. Adresi ve kapıyı denetleyin.`,
    },
  },
)
