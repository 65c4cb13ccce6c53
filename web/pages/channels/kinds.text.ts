import { texts } from '../../../shared/words/texts.ts'

/** Names and addresses that are the same in every language. */
const NAMES = {
  webhook: 'Webhook',
  slack: 'Slack',
  teams: 'Microsoft Teams',
  discord: 'Discord',
  telegram: 'Telegram',
  pagerduty: 'PagerDuty',
  ntfy: 'ntfy',
  pushover: 'Pushover',
  mqtt: 'MQTT',
}
const EXAMPLES = {
  webhook: 'https://example.com/hooks/watchpost',
  email: 'night-shift@example.com',
  slack: 'https://hooks.slack.com/services/T…/B…/…',
  teams: 'https://….environment.api.powerplatform.com/…&sig=…',
  discord: 'https://discord.com/api/webhooks/…',
  telegram: '-1001234567890',
  pagerduty: 'R0…',
  ntfy: 'https://ntfy.sh/my-topic',
  pushover: 'uQiRzpo4DXghDmr9QzzfQu27cmVRsG',
  mqtt: 'mqtts://broker.example.com:8883/watchpost/alerts',
  webpush: '',
}

/** What each kind of channel is called, and where to find its address. */
export const kindsText = texts(
  {
    names: { ...NAMES, email: 'E-mail', webpush: 'Browser' },
    examples: EXAMPLES,
    what: {
      webhook: 'Signed JSON for your own program',
      email: 'Any mailbox that agrees to it',
      slack: 'A channel of your workspace',
      teams: 'A channel of your team',
      discord: 'A channel or thread',
      telegram: 'A group, channel or person',
      pagerduty: 'An incident for whoever is on call',
      ntfy: 'Phones that follow a topic',
      pushover: 'Your phone, ringing if need be',
      mqtt: 'A topic of your broker',
      webpush: 'Notifications on this computer',
    },
    targets: {
      webhook: 'URL',
      email: 'Address',
      slack: 'Webhook URL',
      teams: 'Webhook URL',
      discord: 'Webhook URL',
      telegram: 'Chat',
      pagerduty: 'Integration key',
      ntfy: 'Topic URL',
      pushover: 'User or group key',
      mqtt: 'Broker and topic',
      webpush: 'Subscription of the browser',
    },
    help: {
      webhook:
        'Your program gets a POST with JSON for every alert, signed by Standard Webhooks. The secret that checks the signature is shown once, after you create the channel.',
      email:
        'A mail with a link goes to this address first. Nothing else is sent until somebody there has agreed.',
      slack:
        'Open your app at api.slack.com/apps, then Incoming Webhooks, then Add New Webhook to Workspace. Choose the channel and copy the URL.',
      teams:
        'In Teams, open the menu of the channel, then Workflows, and choose Send webhook alerts to a channel. Copy the whole URL. In the trigger, Who can trigger the flow has to be Anyone.',
      discord:
        'In Discord, open the settings of the channel, then Integrations, then Webhooks, and choose Copy Webhook URL.',
      telegram:
        'Make a bot with @BotFather, add it to the chat and write to it there. The number of the chat is message.chat.id in the answer of https://api.telegram.org/bot<token>/getUpdates; a public channel is its @name.',
      pagerduty:
        'Open the service in PagerDuty, then Integrations, then Add an integration, choose Events API V2 and copy the key.',
      ntfy: 'Choose a topic that nobody guesses and follow it in the ntfy app; then send its URL here. It may be on ntfy.sh or on your own server.',
      pushover:
        'Your user key is on the first page of pushover.net when you are signed in. The token belongs to an application that you make at pushover.net/apps.',
      mqtt: 'The address of your broker with the topic as its path. The messages are those of a webhook.',
      webpush:
        'This browser shows a notification for every alert, also while no page of Watchpost is open. It asks for your permission.',
    },
    settings: {
      headers: 'Headers',
      thread_id: 'Thread',
      bot_token: 'Token of the bot',
      region: 'Region',
      token: 'Access token',
      username: 'User name',
      password: 'Password',
      app_token: 'Token of the application',
      device: 'Device',
      emergency: 'Ring until somebody acknowledges, from severity 80',
      qos: 'Quality of service',
      retain: 'The broker keeps the last message',
    } as Record<string, string>,
    hints: { headers: 'One on each line, as Name: value.' } as Record<string, string>,
    choices: {
      us: 'United States',
      eu: 'Europe',
      '1': '1, at least once',
      '2': '2, exactly once',
    } as Record<string, string>,
  },
  {
    names: { ...NAMES, email: 'E-posta', webpush: 'Tarayıcı' },
    examples: EXAMPLES,
    what: {
      webhook: 'Kendi programınız için imzalı JSON',
      email: 'Onay veren her posta kutusu',
      slack: 'Çalışma alanınızın bir kanalı',
      teams: 'Ekibinizin bir kanalı',
      discord: 'Bir kanal ya da konu',
      telegram: 'Bir grup, kanal ya da kişi',
      pagerduty: 'Nöbetçi için bir olay kaydı',
      ntfy: 'Bir konuyu izleyen telefonlar',
      pushover: 'Telefonunuz, gerekirse çalarak',
      mqtt: 'Aracınızın (broker) bir konusu',
      webpush: 'Bu bilgisayarda bildirimler',
    },
    targets: {
      webhook: 'URL',
      email: 'Adres',
      slack: 'Webhook URL’si',
      teams: 'Webhook URL’si',
      discord: 'Webhook URL’si',
      telegram: 'Sohbet',
      pagerduty: 'Entegrasyon anahtarı',
      ntfy: 'Konunun URL’si',
      pushover: 'Kullanıcı ya da grup anahtarı',
      mqtt: 'Aracı ve konu',
      webpush: 'Tarayıcının aboneliği',
    },
    help: {
      webhook:
        'Programınız her uyarı için Standard Webhooks ile imzalanmış JSON içeren bir POST alır. İmzayı denetleyen gizli anahtar, kanal oluşturulunca bir kez gösterilir.',
      email:
        'Önce bu adrese bağlantı içeren bir posta gider. Oradaki biri onaylayana kadar başka bir şey gönderilmez.',
      slack:
        'api.slack.com/apps adresinde uygulamanızı açın, Incoming Webhooks bölümünde Add New Webhook to Workspace seçin, kanalı seçip URL’yi kopyalayın.',
      teams:
        'Teams’te kanalın menüsünden Workflows’u açıp Send webhook alerts to a channel seçin ve URL’nin tamamını kopyalayın. Tetikleyicide Who can trigger the flow, Anyone olmalıdır.',
      discord:
        'Discord’da kanal ayarlarını açın, Integrations, sonra Webhooks bölümüne gidin ve Copy Webhook URL seçin.',
      telegram:
        '@BotFather ile bir bot oluşturun, sohbete ekleyin ve orada ona yazın. Sohbetin numarası https://api.telegram.org/bot<token>/getUpdates yanıtındaki message.chat.id değeridir; herkese açık kanal için @adı yazılır.',
      pagerduty:
        'PagerDuty’de hizmeti açın, Integrations altında Add an integration ve Events API V2 seçin, anahtarı kopyalayın.',
      ntfy: 'Kimsenin tahmin edemeyeceği bir konu seçip ntfy uygulamasında izleyin; sonra URL’sini buraya yazın. ntfy.sh’ta ya da kendi sunucunuzda olabilir.',
      pushover:
        'Kullanıcı anahtarınız, oturum açtığınızda pushover.net’in ilk sayfasındadır. Belirteç, pushover.net/apps adresinde oluşturduğunuz uygulamanındır.',
      mqtt: 'Aracınızın adresi, yol olarak konuyla birlikte. İletiler webhook’unkilerle aynıdır.',
      webpush:
        'Bu tarayıcı her uyarı için, Watchpost’un hiçbir sayfası açık değilken de bildirim gösterir. İzninizi ister.',
    },
    settings: {
      headers: 'Başlıklar',
      thread_id: 'Konu',
      bot_token: 'Botun belirteci',
      region: 'Bölge',
      token: 'Erişim belirteci',
      username: 'Kullanıcı adı',
      password: 'Parola',
      app_token: 'Uygulamanın belirteci',
      device: 'Aygıt',
      emergency: 'Önem derecesi 80 ve üzeriyse biri görene kadar çal',
      qos: 'Hizmet kalitesi',
      retain: 'Aracı son iletiyi saklar',
    } as Record<string, string>,
    hints: { headers: 'Her satıra bir tane, Ad: değer biçiminde.' } as Record<string, string>,
    choices: {
      us: 'Amerika Birleşik Devletleri',
      eu: 'Avrupa',
      '1': '1, en az bir kez',
      '2': '2, tam bir kez',
    } as Record<string, string>,
  },
)
