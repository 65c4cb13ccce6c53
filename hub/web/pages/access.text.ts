import { texts } from '../../../shared/words/texts.ts'

/** The sign-in page and the onboarding wizard. */
export const accessText = texts(
  {
    login: {
      title: 'Sign in',
      email: 'E-mail',
      email_hint: 'The first admin leaves this empty.',
      password: 'Password',
      submit: 'Sign in',
      forgotten_member:
        'Forgot it? An admin can make a new link for you. The first admin runs watchpost-hub reset-password on the server.',
      forgotten:
        'Forgot it? On the server, watchpost-hub reset-password creates a new set-up code.',
    },
    join: {
      title: 'Join the hub',
      for: (email: string) => `This invitation is for ${email}.`,
      roles: {
        admin: 'You will be an admin: you can change everything.',
        seller: 'You will be a seller: you work with leads, drafts and missions, and send mail.',
        reader: 'You will be a reader: you see everything of the projects and change nothing.',
      },
      name: 'Your name',
      name_hint: 'It is shown beside what you do here.',
      password: 'New password',
      password_hint: 'At least 10 characters. A few words are easy to remember and hard to guess.',
      repeat: 'Repeat password',
      differs: 'The passwords do not match.',
      submit: 'Set password and sign in',
      bad: 'This link does not work',
      no_link: 'The address is incomplete. Open the whole link that you were sent.',
      sign_in: 'Sign in',
    },
    welcome: {
      title: 'Set up your hub',
      steps: {
        password: 'Password',
        key: 'Service key',
        model: 'Model',
        license: 'License',
        mail: 'Mail',
        project: 'First project',
        brand: 'Brand',
      },
      step: (at: number, all: number) => `Step ${at} of ${all}`,
      done: 'done',
      skipped: 'skipped',
      resume:
        'You can leave at any time: completed steps are kept, and this page continues where you left off.',
    },
    password: {
      title: 'Choose the admin password',
      text: 'You are the first admin of this hub. The set-up code proves that you have access to the server.',
      code: 'Set-up code',
      code_hint:
        'The installer printed it at the end, and watchpost-hub status shows it again; npm run hub prints it at its start.',
      password: 'New password',
      password_hint: 'At least 10 characters. A few words are easy to remember and hard to guess.',
      repeat: 'Repeat password',
      differs: 'The passwords do not match.',
      submit: 'Set password',
    },
    key: {
      title: 'Paste the service key',
      text: 'Until then the hub can only read its database. The key is checked first; then the hub restarts and this page reconnects by itself.',
      label: 'Service key',
      where: 'On the server, run',
      where_else: 'npm run hub names the file that has it in the terminal.',
      submit: 'Use this key',
      restarting: 'The hub is restarting with the new key',
      restarting_text: 'This takes a few seconds. You do not have to do anything.',
      slow: 'This is taking longer than expected. See the log on the server: journalctl -u watchpost-hub',
    },
    first_project: {
      title: 'Create your first project',
      text: 'A project is one company or product you sell for, with its own leads, mails and tone of voice.',
    },
  },
  {
    login: {
      title: 'Giriş yap',
      email: 'E-posta',
      email_hint: 'İlk yönetici burayı boş bırakır.',
      password: 'Parola',
      submit: 'Giriş yap',
      forgotten_member:
        'Parolanızı mı unuttunuz? Bir yönetici size yeni bir bağlantı verebilir. İlk yönetici sunucuda watchpost-hub reset-password komutunu çalıştırır.',
      forgotten:
        'Parolanızı mı unuttunuz? Sunucuda watchpost-hub reset-password yeni bir kurulum kodu oluşturur.',
    },
    join: {
      title: 'Hub’a katılın',
      for: (email) => `Bu davet ${email} içindir.`,
      roles: {
        admin: 'Yönetici olacaksınız: her şeyi değiştirebilirsiniz.',
        seller:
          'Satışçı olacaksınız: adaylar, taslaklar ve görevlerle çalışır, e-posta gönderirsiniz.',
        reader: 'Okuyucu olacaksınız: projelerdeki her şeyi görür, hiçbir şeyi değiştirmezsiniz.',
      },
      name: 'Adınız',
      name_hint: 'Burada yaptıklarınızın yanında görünür.',
      password: 'Yeni parola',
      password_hint:
        'En az 10 karakter. Birkaç sözcüğün hatırlanması kolay, tahmin edilmesi zordur.',
      repeat: 'Parola (tekrar)',
      differs: 'Parolalar eşleşmiyor.',
      submit: 'Parolayı belirle ve giriş yap',
      bad: 'Bu bağlantı çalışmıyor',
      no_link: 'Adres eksik. Size gönderilen bağlantının tamamını açın.',
      sign_in: 'Giriş yap',
    },
    welcome: {
      title: 'Hub’ınızı kurun',
      steps: {
        password: 'Parola',
        key: 'Servis anahtarı',
        model: 'Model',
        license: 'Lisans',
        mail: 'E-posta',
        project: 'İlk proje',
        brand: 'Marka',
      },
      step: (at, all) => `Adım ${at} / ${all}`,
      done: 'tamam',
      skipped: 'atlandı',
      resume:
        'İstediğiniz an çıkabilirsiniz: tamamlanan adımlar saklanır, bu sayfa kaldığınız yerden devam eder.',
    },
    password: {
      title: 'Yönetici parolasını seçin',
      text: 'Bu hub’ın ilk yöneticisi sizsiniz. Kurulum kodu, sunucuya erişiminiz olduğunu kanıtlar.',
      code: 'Kurulum kodu',
      code_hint:
        'Kurulumun sonunda gösterildi, watchpost-hub status yeniden gösterir; npm run hub başlarken yazar.',
      password: 'Yeni parola',
      password_hint:
        'En az 10 karakter. Birkaç sözcüğün hatırlanması kolay, tahmin edilmesi zordur.',
      repeat: 'Parola (tekrar)',
      differs: 'Parolalar eşleşmiyor.',
      submit: 'Parolayı belirle',
    },
    key: {
      title: 'Servis anahtarını yapıştırın',
      text: 'O zamana dek hub veritabanını yalnızca okuyabilir. Anahtar önce denenir; sonra hub yeniden başlar ve bu sayfa kendiliğinden bağlanır.',
      label: 'Servis anahtarı',
      where: 'Sunucuda şunu çalıştırın',
      where_else: 'npm run hub, anahtarın bulunduğu dosyayı terminalde yazar.',
      submit: 'Bu anahtarı kullan',
      restarting: 'Hub yeni anahtarla yeniden başlıyor',
      restarting_text: 'Birkaç saniye sürer. Yapmanız gereken bir şey yok.',
      slow: 'Beklenenden uzun sürüyor. Sunucuda günlüğe bakın: journalctl -u watchpost-hub',
    },
    first_project: {
      title: 'İlk projenizi oluşturun',
      text: 'Proje, satışını yaptığınız bir firma ya da üründür; kendi adayları, e-postaları ve üslubu vardır.',
    },
  },
)
