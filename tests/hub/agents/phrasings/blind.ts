import type { AgentName } from '../../../../hub/agents/names.ts'

type Tasks = { en: Partial<Record<AgentName, string[]>>; tr: Partial<Record<AgentName, string[]>> }

/**
 * Tasks as people in a sales team type them, small letters, slips and all. Each list was written
 * before it was measured; the kinds of sentences were then mended with the first three in view, one
 * after the other. `README.md` has the figures of each step.
 */
const FIRST: Tasks = {
  en: {
    research: [
      'can u get me 10 freight forwarders around rotterdam w/ contact emails',
      'who are the bigger players in cold storage in poland',
      "dig up whatever you can on mark grant's company before thursday",
    ],
    web_research: [
      'check what arkas.com.tr says about their fleet size',
      'their site must mention opening hours, go see',
    ],
    marketing: [
      'drop anna a line that the samples shipped today',
      'need a short follow up for the guys who went quiet after the fair',
      'can you make the last mail to Tom sound less pushy',
    ],
    sales: [
      'calling borusan at 2, what do i open with',
      'they keep saying competitor is 15% cheaper. give me comebacks',
      'put a two page proposal together for hotel marina, 40 rooms',
    ],
    engineer: [
      'code/import.py dies with a KeyError, have a look',
      'little script to dedupe a csv by email pls',
      'turn calc.js into typescript',
    ],
    engineer_system: [
      'the hub itself needs a dark calendar view, change its code',
      'can the hub show the tags on the board cards? patch it',
    ],
    docs: [
      'write up how we onboard a new client, step by step',
      'minutes from todays call: (notes attached)',
      'one page about our company for the trade fair booth',
    ],
    finance: [
      'bill hotel marina for 12 nights at 85 eur',
      'whats left of the fair budget if the stand was 4200 and flights 900',
    ],
    legal: [
      'customer wants to walk out of the contract after 3 months, can he',
      'are we ok to buy an email list from that broker',
    ],
    data: [
      'how many replies did we get last week vs the week before',
      'top 10 cities by number of leads',
    ],
    pm: [
      'look at the missions that went wrong this week, what should we change',
      'marketing agent keeps writing too long, adjust its prompt',
    ],
    system: [
      'nothing goes out since this morning, is smtp dead',
      'model seems stuck, loading forever',
      'why is memory so high on this box',
    ],
    ceo: [
      'where do we want to be by q3, give me okrs',
      'germany or poland first? need a recommendation for the board',
    ],
  },
  tr: {
    research: [
      'bana ege bölgesinde zeytinyağı ihracatı yapan 15 firma lazım',
      'fuardan gelen kartvizitleri adaylara işle',
      'delta tarım kimdir necidir bi bak bakalım',
    ],
    web_research: [
      'www.polonez.com.tr yi gez ürün listesini çıkar',
      'sitelerine bi göz at kaç şubeleri var yazıyo mu',
      'müller gmbh web sayfasında referans olarak kimleri göstermiş',
    ],
    marketing: [
      'ayşe hanıma dünkü görüşme için teşekkür yazalım',
      'eski müşterilere bayram mesajı hazırlar mısın',
      'fiyat artışını müşterilere yumuşak bi dille duyuralım',
    ],
    sales: [
      'kargoline için 500 palet üzerinden teklif çalış',
      'müşteri düşünelim dediğinde ne demem lazım',
      'yarın arkasla toplantım var bana notlar hazırla',
    ],
    engineer: [
      'formdaki tarih alanı safari de bozuk düzeltsene',
      'excel deki telefon numaralarını +90 formatına çeviren makro yaz',
      'bana stok apisine bağlanan küçük bi istemci lazım',
    ],
    engineer_system: [
      'huba excel olarak dışarı aktarma butonu ekleyelim',
      'hubın kodunda taslak listesini hızlandır',
      "watchpost hub'ın arayüzüne filtre ekle",
    ],
    docs: [
      'yeni başlayan satışçı için bi el kitapçığı hazırla',
      'şu uzun metni yarım sayfaya indir',
      'depo sürecimizi anlatan bi doküman lazım',
    ],
    finance: [
      'delta tarıma 300 koli 45 liradan fatura kes',
      'kdv dahil ne tutar: 12 gün, günlüğü 650',
      'bu ay masraflar: kira 40 bin maaş 210 bin, tabloya dök',
    ],
    legal: [
      'kvkk açısından müşteri telefonlarını whatsapp grubunda paylaşmak sorun olur mu',
      'gizlilik sözleşmesi taslağı lazım, tedarikçi için',
      'iptal ederlerse kapora bizde kalır mı hukuken',
    ],
    data: [
      'kaç aday teklif aşamasında bekliyor',
      'geçen ay kimlere hiç yazmamışız listele',
      'hangi kaynaktan gelenler daha çok cevap veriyo',
    ],
    pm: [
      'bu hafta reddettiğim taslaklardan ne öğrendik',
      'ajanların çalışma şeklini bi gözden geçir neyi iyileştirelim',
      'onay bekleyen işler birikiyo, süreci nasıl hızlandırırız',
    ],
    system: [
      'disk doldu mu acaba bi kontrol et',
      'dün geceki yedek alınmış mı',
      'hub çok yavaşladı neden',
    ],
    ceo: [
      'önümüzdeki çeyrek için hedef koyalım',
      'yönetim kuruluna aylık özet raporu hazırla',
      'ihracata mı ağırlık verelim iç pazara mı, stratejik olarak',
    ],
  },
}

const SECOND: Tasks = {
  en: {
    research: [
      'need a list of dairy producers in brittany, 20 or so',
      'who decides about packaging at ford otosan',
    ],
    web_research: [
      'go thru nordfracht.de and pull the branch addresses',
      'does their homepage say anything bout iso certs',
      'skim the about page of hotel-marina.com for me',
    ],
    marketing: [
      'ping everybody who downloaded the catalogue, keep it friendly',
      'tell mr jansen the delivery slips to monday',
      'shorten the newsletter and make it less formal',
    ],
    sales: [
      'quote 20 pallets/month for aydın tekstil',
      'role play: buyer says no budget. how do i react',
    ],
    engineer: [
      'regex for turkish iban please',
      'the loop in report.py runs forever',
      'unit tests for code/price.ts',
    ],
    engineer_system: [
      'add a column for language in the hubs lead table',
      'fix the hub: search box loses focus',
      'patch your own code so exports keep umlauts',
    ],
    docs: ['faq page about delivery and returns', 'turn these bullet points into a proper memo'],
    finance: [
      'how much did the berlin trip cost in total: 320 hotel, 180 train, 75 food',
      'proforma for müller, 3 machines a 12.500',
    ],
    legal: ['do we have to tell people that calls get recorded', 'nda for the turkish distributor'],
    data: ['who opened the spring mail but didnt answer', 'open rate by country pls'],
    pm: [
      'why do so many drafts get turned down lately',
      'retro on the last sprint of missions',
      'suggest how the agents could do better next month',
    ],
    system: [
      'did last nights backup run',
      'hub keeps restarting every hour',
      'is the model even loaded',
    ],
    ceo: ['swot for our entry into france', 'what should we focus on next year, be blunt'],
  },
  tr: {
    research: [
      'izmirdeki butik otelleri bul, sahiplerinin adıyla',
      'bu excel listesindeki kişileri aday olarak kaydet',
      'kargoline hakkında ne biliyosak topla, derinlemesine',
    ],
    web_research: [
      'eti.com.tr ye gir son haberlere bak',
      'adayın internet sitesinden ürün gamını öğren',
    ],
    marketing: [
      'fuarda tanıştıklarımıza kısa bir tanışma maili atalım',
      'kampanya için üç farklı konu başlığı öner',
      'hans beye numunelerin yola çıktığını haber ver',
    ],
    sales: [
      'telefonda kendimi nasıl tanıtayım, kısa bi metin',
      'pahalısınız diyen müşteriye karşı argüman ver',
      'northfreight teklifini güncelle, 3 yıl vade olsun',
    ],
    engineer: ['sipariş formu için html css hazırla', 'iki csv yi birleştiren python kodu'],
    engineer_system: [
      'hub a yeni bir bildirim sesi ekle',
      'hubın ayar sayfasını değiştir, logo büyük olsun',
    ],
    docs: [
      'toplantı notlarını tutanak haline getir',
      'bakım ekibi için adım adım talimat yaz',
      'ürün kataloğu metinlerini toparla',
    ],
    finance: [
      'bu siparişte kar marjımız ne olur: alış 80 satış 115 adet 400',
      'gelecek ayın bütçesini çıkar',
      'ödenmemiş faturalar için hesap özeti hazırla',
    ],
    legal: [
      'fesih ihtarnamesi yaz',
      'bu sözleşmede cezai şart çok mu ağır',
      'çerez politikası lazım siteye',
    ],
    data: [
      'haftalık gönderilen mail sayısını grafik yap',
      'en son kime ne zaman yazdık',
      'almanyadaki kaç lead teklif aldı',
    ],
    pm: [
      'satış ajanının talimatlarını düzelt, fazla resmi yazıyor',
      'işler nerde tıkanıyor bi bak',
    ],
    system: ['sunucuda bellek niye bitiyor', 'e-postalar gitmiyo, sebebi ne'],
    ceo: [
      'şirketin 3 yıllık büyüme planını yaz',
      'rakiplere karşı konumumuzu değerlendir, yönetim için',
      'fiyatları artırsak mı pazar payı mı kovalasak, karar lazım',
    ],
  },
}

const THIRD: Tasks = {
  en: {
    research: [
      'bakeries in lyon with more than one shop, i need names',
      'whats known about the new owner of delta foods',
      'pull the contacts out of the attached attendee list',
    ],
    web_research: [
      'see if kargoline.com has anything on night deliveries',
      'grab the team names from their about us page',
    ],
    marketing: [
      'let everyone on the list know we moved offices',
      'reply to claire, say yes to the tuesday slot',
      'come up w/ a catchy subject for the fair invitation',
    ],
    sales: [
      'they want 10% off, how far can i go and what do i offer instead',
      'script for cold calling hotels in antalya',
      'draft an offer: 3 pumps for usta makina, delivery incl',
    ],
    engineer: [
      'this query in code/report.sql is wrong, sums are doubled',
      'convert an xlsx price list to json automatically',
    ],
    engineer_system: [
      'hub: add a keyboard shortcut for approve',
      'make the hub send me a daily digest, needs a code change',
    ],
    docs: [
      'checklist for packing export orders',
      'sum up the attached pdf in 5 bullets',
      'rewrite our returns policy so a child gets it',
    ],
    finance: [
      'invoice dubois transport for march, 14 trips at 230',
      'are we over budget on marketing this month, spent 3100 of 2800',
    ],
    legal: [
      'supplier is 6 weeks late, can we cancel and get money back',
      'what must be in the imprint of a german website',
    ],
    data: [
      'list leads without phone number',
      'average time from first mail to reply',
      'compare answers by source this year',
    ],
    pm: [
      'which of the agents fails most and why',
      'our approvals take ages, suggest a better way of working',
    ],
    system: [
      'the page says database unreachable, whats wrong',
      'free some disk space please',
      'imap login fails since yesterday',
    ],
    ceo: [
      'draft our goals for the second half of the year',
      'should we hire a second sales rep or spend on ads',
    ],
  },
  tr: {
    research: [
      'konyada tarım makinesi satan bayileri bulur musun',
      'usta makina ile ilgili ne bulursan yaz bana, ortakları kim',
      'şu katılımcı listesinden firmaları çek',
    ],
    web_research: [
      'rakibin sitesinde fiyat var mı bak',
      'https://dubois.example adresindeki referansları çıkar',
    ],
    marketing: [
      'taşındığımızı herkese haber verelim mailden',
      'claire e olumlu cevap yaz salı uygun de',
      'indirim duyurusu için kısa ve samimi bir metin lazım mail olarak',
    ],
    sales: [
      'müşteri %10 indirim istiyor nasıl karşılık vereyim',
      'otelleri ararken kullanacağım bir konuşma metni yaz',
      'usta makinaya 3 pompa için teklif çıkar nakliye dahil',
    ],
    engineer: [
      'code/rapor.sql yanlış topluyor düzelt',
      'fiyat listesini json a çeviren bir şey yazar mısın, excel den',
      'sitedeki iletişim formuna doğrulama ekle',
    ],
    engineer_system: [
      'huba kısayol tuşu ekle onay için',
      'hub her gün bana özet atsın, kodunu değiştir',
    ],
    docs: [
      'ihracat siparişi paketleme için kontrol listesi',
      'ekteki yazıyı beş maddede özetle',
      'iade koşullarımızı daha anlaşılır yaz',
    ],
    finance: [
      'dubois transporta mart ayı faturası, 14 sefer 230 euro',
      'bu ay pazarlamaya 3100 harcadık bütçe 2800 dü ne kadar aştık',
    ],
    legal: [
      'tedarikçi 6 hafta geç kaldı sözleşmeden dönebilir miyiz',
      'mesafeli satış sözleşmesi hazırla',
      'bu maddeyi kabul edersek başımıza ne gelir',
    ],
    data: [
      'telefonu olmayan adayları göster',
      'ilk mailden cevaba kadar ortalama kaç gün geçiyo',
      'bu yıl cevapları kaynağa göre kıyasla',
    ],
    pm: [
      'hangi ajan en çok hata yapıyor, neden',
      'onaylar çok uzun sürüyor daha iyi bir yöntem öner',
    ],
    system: [
      'sayfada veritabanına ulaşılamıyor yazıyo ne oldu',
      'diskte yer aç',
      'dünden beri imap girişi olmuyor',
    ],
    ceo: [
      'yılın ikinci yarısı için hedeflerimizi yaz',
      'ikinci bir satışçı mı alalım reklama mı yatıralım',
    ],
  },
}

/** Nobody looked at what this list showed; whoever does to mend it writes a new one. */
const UNSEEN: Tasks = {
  en: {
    research: [
      'any wholesalers for packaging film in the ruhr area? names + towns',
      'tell me more about hotel aurora, who owns it, how big',
    ],
    web_research: [
      'look whether dubois.example lists any certificates',
      'what prices do they publish on their site',
    ],
    marketing: [
      'answer toms mail, we can do friday',
      'write the fair visitors, thanks for stopping by',
      'second reminder for the ones who ignored the first mail',
    ],
    sales: [
      'how do we beat a competitor who is cheaper',
      'make me an offer for nowak transport, 2 trucks a week',
    ],
    engineer: [
      'the csv import script skips the last row, repair it',
      'a bash one liner that renames all pdfs by date',
      'add tests to code/cart.py',
    ],
    engineer_system: [
      'change the hubs board so columns can be collapsed',
      'your own code has a bug in the export, patch it',
    ],
    docs: [
      'guide for using the label printer',
      'put my notes from the meeting in order as minutes',
    ],
    finance: [
      'offer costs us 1400 in material and 20 hours at 60, what margin at 3500',
      'write a bill for usta makina, 3 pumps 900 each',
      'monthly budget for a team of four',
    ],
    legal: ['is a verbal agreement binding', 'need terms and conditions for our webshop'],
    data: ['how many mails bounced in october', 'table of leads per stage and country'],
    pm: [
      'what did the team change most in agent drafts',
      'sales prompt should ask for budget first, change it',
    ],
    system: ['server disk at 97 percent what now', 'why did the mission queue stop'],
    ceo: ['write a strategy for growing in austria', 'what are our three biggest risks'],
  },
  tr: {
    research: [
      'bursada otomotiv yan sanayi firmaları lazım bize müşteri olabilecek',
      'nowak transport kimin firması kaç kişi çalışıyor araştır',
    ],
    web_research: [
      'aurora otelin sitesinden oda sayısını öğren',
      'dubois.example sertifikalarına bakar mısın',
    ],
    marketing: [
      'tomun mailine cevap ver cuma olur de',
      'fuar ziyaretçilerine teşekkür maili hazırlayalım',
      'ilk maili görmeyenlere ikinci hatırlatma',
    ],
    sales: [
      'rakip bizden ucuz müşteriyi nasıl ikna ederim',
      'nowak için haftada 2 tır üzerinden fiyat teklifi yap',
    ],
    engineer: [
      'csv okuyan script son satırı atlıyor düzelt',
      'code/sepet.py için test yaz',
      'pdf leri tarihe göre adlandıran bir komut yaz',
    ],
    engineer_system: [
      'hubın panosunda sütunlar kapansın, kodunu değiştir',
      'kendi kodundaki dışa aktarma hatasını düzelt',
    ],
    docs: ['etiket yazıcısı kullanım kılavuzu', 'toplantı notlarımı tutanağa çevir'],
    finance: [
      'malzeme 1400 işçilik 20 saat 60 tan 3500 e satarsak kar ne',
      'usta makinaya fatura yaz 3 pompa 900',
      'dört kişilik ekip için aylık bütçe',
    ],
    legal: ['sözlü anlaşma bizi bağlar mı', 'internet mağazamız için mesafeli satış şartları'],
    data: ['ekimde kaç mail geri döndü', 'aşama ve ülkeye göre aday tablosu'],
    pm: [
      'ajan taslaklarında ekip en çok neyi değiştirdi',
      'satış ajanının istemini değiştir önce bütçeyi sorsun',
    ],
    system: ['sunucu diski yüzde 97 ne yapalım', 'görev kuyruğu niye durdu'],
    ceo: ['avusturyada büyümek için strateji yaz', 'en büyük üç riskimiz ne'],
  },
}

export const BLIND = Object.entries({ FIRST, SECOND, THIRD, UNSEEN }).flatMap(([list, tasks]) =>
  Object.values(tasks).flatMap((byAgent) =>
    Object.entries(byAgent).flatMap(([agent, own]) => own.map((task) => ({ list, agent, task }))),
  ),
)
