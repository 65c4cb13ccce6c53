import { decimal, moment, texts } from '../i18n/words.ts'

/** The doctor's checks and their findings. */
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
      license: 'License',
      mail: 'Mail',
      backups: 'Backups',
      cron: 'Cron',
      browser: 'Browser',
    },
    node: {
      is: (version: string) => `Node ${version}.`,
      old: (version: string, least: number) =>
        `Node ${version} is too old; ${least} or later is required.`,
    },
    memory: {
      is: (gib: number) => `${decimal('en', gib)} GiB of memory.`,
      little: (gib: number) =>
        `${decimal('en', gib)} GiB of memory: choose a small model, or an endpoint elsewhere.`,
      too_little: (gib: number) =>
        `${decimal('en', gib)} GiB of memory; at least 3.5 GiB are required. Add memory to this machine.`,
    },
    disk: {
      is: (gib: number, folder: string) => `${decimal('en', gib)} GiB free in ${folder}.`,
      little: (gib: number, folder: string) =>
        `${decimal('en', gib)} GiB free in ${folder}. Free some space: a backup or a model needs more.`,
      too_little: (gib: number, folder: string) =>
        `${decimal('en', gib)} GiB free in ${folder}; at least 1 GiB is required. Delete old backups or models.`,
    },
    folders: {
      are: 'All folders exist and are writable.',
      amiss: (folder: string) =>
        `${folder} is missing, or the hub cannot write to it. Run the installer again to repair it.`,
    },
    secrets: {
      are: 'Only the hub can read its secrets.',
      missing: (file: string) => `${file} is missing. Run the installer again to create it.`,
      open: (file: string) => `Other users can read ${file}. Run: chmod 600 ${file}`,
    },
    database: {
      writes: (address: string) => `Answers at ${address} with the service key.`,
      reads:
        'Answers, but only with the read-only key. Paste the key that `watchpost-hub service-key show` prints in Settings > Service Key.',
      amiss: (address: string, why: string) =>
        `${address} does not work: ${why}. See journalctl -u watchpost-postgres, or paste the key again in Settings > Service Key.`,
    },
    hub: {
      runs: (version: string, port: number) => `Version ${version} answers on port ${port}.`,
      away: (address: string) =>
        `Nothing answers at ${address}. Run: systemctl start watchpost-hub. If it stops again, journalctl -u watchpost-hub shows why.`,
    },
    set_up: {
      done: 'The admin password is set.',
      open: 'No admin password has been set yet. `watchpost-hub status` shows the set-up code.',
    },
    model: {
      none: 'No model is chosen, so missions wait. Choose one in Settings > Models.',
      endpoint: (model: string, url: string) => `${model} at ${url}.`,
      gone: (file: string) => `${file} is missing. Download it in Settings > Models.`,
    },
    mail: {
      paused: {
        admin: 'Paused by the admin.',
        restored: 'Paused because a backup was restored.',
        bounces: 'Paused because too many mails bounced.',
        complaints: 'Paused because too many recipients reported spam.',
        agent: 'Paused at the system agent’s request.',
      },
      confirm: 'Resume it in Settings > Mail.',
      no_server: 'No mail server is set up. Enter one in Settings > Mail.',
      no_address: 'The unsubscribe link needs a public https address. Enter it in Settings > Mail.',
      goes: (by: string) => `Sent through ${by}.`,
    },
    backups: {
      none: (next: string) => `None yet. The first is due on ${moment('en', next)}.`,
      failed: 'The last backup failed.',
      last: (at: string) => `Last one on ${moment('en', at)}.`,
      old: (at: string) =>
        `The last one was made on ${moment('en', at)}. Run watchpost-hub backup; it reports what is wrong.`,
    },
    cron: {
      is: (file: string) => `${file} makes the nightly backup.`,
      not_installed: 'Not installed; the hub makes the backups itself.',
      missing: (file: string) =>
        `${file} is missing; the hub makes the backups itself while it runs.`,
    },
    browser: {
      is: (file: string, version: string) =>
        `${file} ${version} starts in its sandbox, ready for web research.`,
      missing:
        'Chromium is not installed, so agents cannot read websites. Run: apt install chromium',
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
      license: 'Lisans',
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
        `${decimal('tr', gib)} GiB bellek var: küçük bir model ya da başka bir makinedeki uç noktayı seçin.`,
      too_little: (gib) =>
        `${decimal('tr', gib)} GiB bellek var; en az 3,5 GiB gerekir. Bu makineye bellek ekleyin.`,
    },
    disk: {
      is: (gib, folder) => `${folder} klasöründe ${decimal('tr', gib)} GiB boş.`,
      little: (gib, folder) =>
        `${folder} klasöründe ${decimal('tr', gib)} GiB boş. Yer açın: bir yedek ya da model için daha fazlası gerekir.`,
      too_little: (gib, folder) =>
        `${folder} klasöründe ${decimal('tr', gib)} GiB boş; en az 1 GiB gerekir. Eski yedekleri ya da modelleri silin.`,
    },
    folders: {
      are: 'Tüm klasörler yerinde ve yazılabilir.',
      amiss: (folder) =>
        `${folder} yok ya da hub oraya yazamıyor. Onarmak için kurulumu yeniden çalıştırın.`,
    },
    secrets: {
      are: 'Gizli dosyaları yalnızca hub okuyabilir.',
      missing: (file) => `${file} yok. Oluşturmak için kurulumu yeniden çalıştırın.`,
      open: (file) => `Başkaları bu dosyayı okuyabilir: ${file}. Komut: chmod 600 ${file}`,
    },
    database: {
      writes: (address) => `${address} adresinde yanıt veriyor; servis anahtarı kullanılıyor.`,
      reads:
        'Yanıt veriyor, ama salt okunur anahtarla. `watchpost-hub service-key show` komutunun gösterdiği anahtarı Ayarlar > Servis anahtarı bölümüne yapıştırın.',
      amiss: (address, why) =>
        `${address} çalışmıyor: ${why}. journalctl -u watchpost-postgres çıktısına bakın ya da anahtarı Ayarlar > Servis anahtarı bölümüne yeniden yapıştırın.`,
    },
    hub: {
      runs: (version, port) =>
        `${version} sürümü ${port} numaralı bağlantı noktasında yanıt veriyor.`,
      away: (address) =>
        `${address} adresinde yanıt yok. Komut: systemctl start watchpost-hub. Yeniden durursa nedenini journalctl -u watchpost-hub gösterir.`,
    },
    set_up: {
      done: 'Yönetici parolası belirlenmiş.',
      open: 'Yönetici parolası henüz belirlenmemiş. `watchpost-hub status` kurulum kodunu gösterir.',
    },
    model: {
      none: 'Model seçilmemiş; görevler bekliyor. Ayarlar > Modeller bölümünde seçin.',
      endpoint: (model, url) => `${model}, ${url} adresinde.`,
      gone: (file) => `${file} yok. Ayarlar > Modeller bölümünde indirin.`,
    },
    mail: {
      paused: {
        admin: 'Yönetici duraklattı.',
        restored: 'Bir yedek geri yüklendiği için duraklatıldı.',
        bounces: 'Çok fazla e-posta geri döndüğü için duraklatıldı.',
        complaints: 'Çok fazla alıcı şikâyet ettiği için duraklatıldı.',
        agent: 'Sistem ajanının isteğiyle duraklatıldı.',
      },
      confirm: 'Ayarlar > E-posta bölümünde sürdürün.',
      no_server: 'E-posta sunucusu tanımlı değil. Ayarlar > E-posta bölümünde girin.',
      no_address:
        'Abonelikten çıkma bağlantısı için genel bir https adresi gerekir. Ayarlar > E-posta bölümünde girin.',
      goes: (by) => `Gönderim yolu: ${by}.`,
    },
    backups: {
      none: (next) => `Henüz yok; ilki: ${moment('tr', next)}.`,
      failed: 'Son yedekleme başarısız oldu.',
      last: (at) => `Sonuncusu: ${moment('tr', at)}.`,
      old: (at) => `Sonuncusu: ${moment('tr', at)}. Komut: watchpost-hub backup; sorunu bildirir.`,
    },
    cron: {
      is: (file) => `Gece yedeğini ${file} alır.`,
      not_installed: 'Kurulu değil; yedekleri hub’ın kendisi alır.',
      missing: (file) => `${file} yok; hub çalıştığı sürece yedekleri kendisi alır.`,
    },
    browser: {
      is: (file, version) =>
        `${file} ${version} korumalı alanında başlıyor; web araştırmasına hazır.`,
      missing: 'Chromium kurulu değil; ajanlar web sitesi okuyamaz. Komut: apt install chromium',
    },
  },
)
