import { decimal, moment, texts } from '../i18n/words.ts'

/** What the doctor looks at, and what he finds. */
export const doctorText = texts(
  {
    names: {
      node: 'Node',
      memory: 'Memory',
      disk: 'Disk',
      folders: 'Folders',
      secrets: 'Secrets',
      database: 'Database',
      hub: 'Hub',
      set_up: 'Set-up',
      model: 'Model',
      licence: 'Licence',
      mail: 'Mail',
      backups: 'Backups',
      cron: 'Cron',
      browser: 'Browser',
    },
    node: {
      is: (version: string) => `Node ${version}.`,
      old: (version: string, least: number) => `Node ${version} is too old; ${least} is needed.`,
    },
    memory: {
      is: (gib: number) => `${decimal('en', gib)} GiB of memory.`,
      little: (gib: number) =>
        `${decimal('en', gib)} GiB of memory: choose a small model, or an endpoint elsewhere.`,
      too_little: (gib: number) =>
        `${decimal('en', gib)} GiB of memory; 3.5 are needed. Give this machine more.`,
    },
    disk: {
      is: (gib: number, folder: string) => `${decimal('en', gib)} GiB are free at ${folder}.`,
      little: (gib: number, folder: string) =>
        `${decimal('en', gib)} GiB are free at ${folder}. Make room: a backup or a model needs more.`,
      too_little: (gib: number, folder: string) =>
        `${decimal('en', gib)} GiB are free at ${folder}; 1 is needed. Delete old backups or models.`,
    },
    folders: {
      are: 'All folders are there and can be written.',
      amiss: (folder: string) =>
        `${folder} is missing or not the hub's to write. Run the installer again: it repairs that.`,
    },
    secrets: {
      are: 'All secrets are for the hub alone.',
      missing: (file: string) =>
        `${file} is missing. Run the installer again: it makes what is not there.`,
      open: (file: string) => `Others can read ${file}. Do: chmod 600 ${file}`,
    },
    database: {
      writes: (address: string) => `It answers at ${address}; the service key is in use.`,
      reads:
        'It answers, but only the read-only key is in use. `watchpost-hub service-key show` prints the other one, for Settings > Service Key.',
      amiss: (address: string, why: string) =>
        `${address} does not answer as it should: ${why}. See journalctl -u watchpost-postgres, or paste the key again in Settings > Service Key.`,
    },
    hub: {
      runs: (version: string, port: number) => `Version ${version} answers on port ${port}.`,
      away: (address: string) =>
        `Nothing answers on ${address}. Do: systemctl start watchpost-hub; journalctl -u watchpost-hub says why it ended.`,
    },
    set_up: {
      done: 'The admin has a password.',
      open: 'Nobody has chosen a password yet. `watchpost-hub status` shows the set-up code.',
    },
    model: {
      none: 'No model is chosen; missions wait. Choose one in Settings > Models.',
      endpoint: (model: string, url: string) => `${model} at ${url}.`,
      gone: (file: string) => `${file} is not there. Download it in Settings > Models.`,
    },
    mail: {
      paused: {
        admin: 'It is paused by the admin.',
        restored: 'It is paused, for a backup was restored.',
        bounces: 'It is paused, for too many mails bounced.',
        complaints: 'It is paused, for too many readers complained.',
        agent: 'It is paused, as the system agent asked.',
      },
      confirm: 'Confirm in Settings > Mail.',
      no_server: 'No server is set. Enter one in Settings > Mail.',
      no_address: 'The unsubscribe link needs public_url (https). Set it in Settings > Mail.',
      goes: (by: string) => `By ${by}.`,
    },
    backups: {
      none: (next: string) => `None yet; the first comes at ${moment('en', next)}.`,
      last: (at: string) => `Last at ${moment('en', at)}.`,
      old: (at: string) =>
        `The last one is of ${moment('en', at)}. Do: watchpost-hub backup; it says what is amiss.`,
    },
    cron: {
      is: (file: string) => `${file} makes the nightly backup.`,
      not_installed: 'Not installed; the hub itself makes the backups.',
      missing: (file: string) =>
        `${file} is missing; the hub itself makes the backups while it runs.`,
    },
    browser: {
      is: (file: string, version: string) =>
        `${file} ${version} starts in its sandbox, for web research.`,
      missing: 'Chromium is not installed, so agents read no websites. Do: apt install chromium',
    },
  },
  {
    names: {
      node: 'Node',
      memory: 'Bellek',
      disk: 'Disk',
      folders: 'Klasörler',
      secrets: 'Gizli dosyalar',
      database: 'Veritabanı',
      hub: 'Hub',
      set_up: 'Kurulum',
      model: 'Model',
      licence: 'Lisans',
      mail: 'E-posta',
      backups: 'Yedekler',
      cron: 'Zamanlanmış yedek',
      browser: 'Tarayıcı',
    },
    node: {
      is: (version) => `Node ${version}.`,
      old: (version, least) => `Node ${version} çok eski; en az ${least} gerekir.`,
    },
    memory: {
      is: (gib) => `${decimal('tr', gib)} GiB bellek var.`,
      little: (gib) =>
        `${decimal('tr', gib)} GiB bellek var: küçük bir model ya da başka yerde bir uç nokta seçin.`,
      too_little: (gib) =>
        `${decimal('tr', gib)} GiB bellek var; 3,5 GiB gerekir. Bu makineye bellek ekleyin.`,
    },
    disk: {
      is: (gib, folder) => `${folder} klasöründe ${decimal('tr', gib)} GiB boş.`,
      little: (gib, folder) =>
        `${folder} klasöründe ${decimal('tr', gib)} GiB boş. Yer açın: bir yedek ya da model daha fazlasını ister.`,
      too_little: (gib, folder) =>
        `${folder} klasöründe ${decimal('tr', gib)} GiB boş; en az 1 GiB gerekir. Eski yedekleri ya da modelleri silin.`,
    },
    folders: {
      are: 'Tüm klasörler yerinde ve yazılabilir.',
      amiss: (folder) =>
        `${folder} yok ya da hub oraya yazamıyor. Kurulumu yeniden çalıştırın: bunu onarır.`,
    },
    secrets: {
      are: 'Gizli dosyaları yalnızca hub okuyabilir.',
      missing: (file) => `${file} yok. Kurulumu yeniden çalıştırın: eksik olanı oluşturur.`,
      open: (file) => `Başkaları bu dosyayı okuyabilir: ${file}. Komut: chmod 600 ${file}`,
    },
    database: {
      writes: (address) => `${address} adresinde yanıt veriyor; servis anahtarı kullanılıyor.`,
      reads:
        'Yanıt veriyor, ama yalnızca okuyan anahtar kullanılıyor. `watchpost-hub service-key show` öbürünü gösterir; Ayarlar > Servis anahtarı bölümüne yapıştırın.',
      amiss: (address, why) =>
        `${address} gerektiği gibi yanıt vermiyor: ${why}. journalctl -u watchpost-postgres çıktısına bakın ya da anahtarı Ayarlar > Servis anahtarı bölümüne yeniden yapıştırın.`,
    },
    hub: {
      runs: (version, port) =>
        `${version} sürümü ${port} numaralı bağlantı noktasında yanıt veriyor.`,
      away: (address) =>
        `${address} adresinde yanıt yok. Komut: systemctl start watchpost-hub; neden durduğunu journalctl -u watchpost-hub gösterir.`,
    },
    set_up: {
      done: 'Yöneticinin parolası var.',
      open: 'Henüz kimse parola seçmedi. `watchpost-hub status` kurulum kodunu gösterir.',
    },
    model: {
      none: 'Model seçilmemiş; görevler bekler. Ayarlar > Modeller altında seçin.',
      endpoint: (model, url) => `${model}, ${url} adresinde.`,
      gone: (file) => `${file} yerinde değil. Ayarlar > Modeller altında indirin.`,
    },
    mail: {
      paused: {
        admin: 'Yönetici durdurdu.',
        restored: 'Duruyor: bir yedek geri yüklendi.',
        bounces: 'Duruyor: çok fazla posta geri döndü.',
        complaints: 'Duruyor: çok fazla okur şikâyet etti.',
        agent: 'Sistem ajanının isteğiyle duruyor.',
      },
      confirm: 'Ayarlar > E-posta altında onaylayın.',
      no_server: 'Sunucu girilmemiş. Ayarlar > E-posta altında girin.',
      no_address:
        'Abonelikten çıkma bağlantısı için https adresi gerekir. Ayarlar > E-posta altında girin.',
      goes: (by) => `Gönderen: ${by}.`,
    },
    backups: {
      none: (next) => `Henüz yok; ilki: ${moment('tr', next)}.`,
      last: (at) => `Sonuncusu: ${moment('tr', at)}.`,
      old: (at) =>
        `Sonuncusu: ${moment('tr', at)}. Komut: watchpost-hub backup; neyin aksadığını söyler.`,
    },
    cron: {
      is: (file) => `Gece yedeğini ${file} alır.`,
      not_installed: 'Kurulu değil; yedekleri hub’ın kendisi alır.',
      missing: (file) => `${file} yok; hub çalıştığı sürece yedekleri kendisi alır.`,
    },
    browser: {
      is: (file, version) => `Web araştırması için ${file} ${version} korumalı alanında başlıyor.`,
      missing: 'Chromium kurulu değil; ajanlar web sitesi okuyamaz. Komut: apt install chromium',
    },
  },
)
