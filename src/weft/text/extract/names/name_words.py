"""Word lists that separate names from ordinary words, and kinds of names from one another."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import Final

from weft.text.extract.time.time_words import HOLIDAYS, MONTHS, WEEKDAYS
from weft.text.lexical import STOP_WORDS

_ENDING_TEXT = """
ing ly ness ment ments tion tions sion ed ful less able ible ous ive ity ies ance ence ism ship
"""
_ENDINGS: Final = tuple(_ENDING_TEXT.split())
# Words before a name at the beginning of a sentence.
_OPENER_TEXT = """
hey hi hello thanks thank wow yes yep yeah no nope oh ah aww ok okay sure well dear sorry congrats congratulations
great good nice cool awesome amazing happy glad bye goodbye welcome please also however although though because since
while when where why what who which whose how if unless until after before during as so then now today yesterday
tomorrow meanwhile moreover furthermore additionally finally later earlier once only even just maybe perhaps both
either neither each every all some many most several few other another such like unlike despite besides instead
following according due under over near between among through throughout across along around about above below against
within without toward towards until upon via per plus versus including based located born known founded directed
written produced starring visit try use check consider see get let make take go come look read watch play add choose
find ask tell call meet love enjoy remember note keep give show follow join book buy bring start stop learn explore
create pick set put did does do is are was were has have had can could will would should may might must shall been
being there here these those this that it its he she they we you i his her their our my your him them us me one two
three four five six seven eight nine ten first second third last next former late new old young original actually
honestly hopefully luckily unfortunately lol haha omg btw anyway speaking damn man dude guys bro gosh yay ugh hmm phew
whoa woah same not never always often still got went saw met yo sup and but or nor yet for in on at by to from of with
the a an
"""
OPENERS: Final = STOP_WORDS.union(_OPENER_TEXT.split())

# Capitalised, but not names.
_GENERIC_TEXT = """
i'm i've i'll i'd i omg lol diy fyi asap tv tvs pc pcs ceo cto cfo coo hr pr id ids ok am pm btw led leds pdf usb dvd
dvds cd cds rpg faq vip aka n/a idk imo imho ps etc bc ad bce ce ai ml vr ar ui ux api apis url html css gpu cpu ram
ssd hd uhd mvp fm ep dlc oem cnn rnn nlp uv sci-fi wifi wi-fi bbq pov tbh tba tbd atm gps sms ngo ngos iq gpa phd mba
bs ba ma msc bsc rsvp eta q&a r&b mr mrs ms dr prof jr sr dad mom mum mommy daddy grandma grandpa god internet web
english note tip pros cons step day week part option example summary master bachelor masters bachelors overview
conclusion introduction user assistant human system
"""
GENERIC: Final = frozenset(_GENERIC_TEXT.split())
TIME_NAMES: Final = frozenset([*MONTHS, *WEEKDAYS, *(f"{day}s" for day in WEEKDAYS), *HOLIDAYS, "eve", "ad", "bc"])
_TITLE_TEXT = """
mr mrs ms miss dr prof professor sir lady lord dame aunt uncle captain president king queen prince princess duke
duchess pope saint coach judge senator
"""
TITLES: Final = frozenset(_TITLE_TEXT.split())

# Fields of study: ordinary words that end in one of these are not a name.
_FIELD_TEXT = """
science sciences engineering mathematics physics economics biology chemistry psychology marketing studies literature
history law arts management administration education learning design language
"""
FIELDS: Final = frozenset(_FIELD_TEXT.split())
# Part of a nationality if before one.
_COMPAS_TEXT = """
north south east west northern southern eastern western central middle new puerto sri
"""
COMPASS: Final = frozenset(_COMPAS_TEXT.split())

# Forms of address and ranks before a name, which are not part of it.
_RANK_TEXT = """
mr mrs ms miss dr prof professor sir lady lord dame king queen prince princess duke duchess count countess earl baron
baroness emperor empress pope president senator judge captain colonel general lieutenant sergeant major admiral
marquess viscount archduke archduchess tsar sultan minister mayor governor chancellor rev attorney secretary chairman
bishop archbishop abbot cardinal palatine khan
"""
RANKS: Final = frozenset(_RANK_TEXT.split())

_DEMONYM_TEXT = """
american british english french german italian spanish portuguese dutch belgian swiss austrian swedish norwegian
danish finnish icelandic irish scottish welsh polish czech slovak hungarian romanian bulgarian greek turkish russian
ukrainian serbian croatian bosnian slovenian albanian macedonian lithuanian latvian estonian canadian mexican
brazilian argentine argentinian chilean peruvian colombian venezuelan ecuadorian bolivian uruguayan paraguayan cuban
jamaican haitian puerto-rican dominican guatemalan honduran nicaraguan salvadoran panamanian indian pakistani
bangladeshi nepali nepalese sri-lankan chinese japanese korean taiwanese vietnamese thai filipino philippine
indonesian malaysian singaporean australian zealander egyptian moroccan algerian tunisian libyan sudanese ethiopian
kenyan ugandan tanzanian nigerian ghanaian senegalese ivorian cameroonian congolese angolan zimbabwean zambian african
south-african iranian persian iraqi syrian lebanese israeli palestinian jordanian saudi arab arabian arabic emirati
kuwaiti qatari yemeni afghan kazakh uzbek georgian armenian azerbaijani mongolian european asian latin hispanic
scandinavian mediterranean jewish christian catholic protestant muslim islamic hindu buddhist western eastern hindi
tamil telugu malayalam bengali marathi punjabi urdu sanskrit kannada cantonese mandarin hebrew yiddish flemish
bavarian prussian soviet texan californian native caribbean laotian cambodian burmese hawaiian uyghur nazi rican
lankan kiwi aboriginal inuit maori kurdish tibetan maltese cypriot luxembourgish moldovan belarusian sephardic
victorian roman ottoman byzantine
"""
DEMONYMS: Final = frozenset(_DEMONYM_TEXT.split())

_GIVEN_TEXT = """
james john robert michael william david richard joseph thomas charles christopher daniel matthew anthony mark donald
steven paul andrew joshua kenneth kevin brian george timothy ronald edward jason jeffrey ryan jacob gary nicholas eric
jonathan stephen larry justin scott brandon benjamin samuel gregory alexander frank patrick raymond jack dennis jerry
tyler aaron jose adam nathan henry douglas zachary peter kyle ethan walter noah jeremy christian keith roger terry
sean austin carl arthur lawrence dylan jesse jordan bryan billy joe bruce gabriel logan alan juan albert willie wayne
randy mason vincent liam roy bobby caleb bradley russell lucas mary patricia jennifer linda elizabeth barbara susan
jessica sarah karen lisa nancy betty margaret sandra ashley kimberly emily donna michelle carol amanda dorothy melissa
deborah stephanie rebecca sharon laura cynthia kathleen amy angela shirley anna brenda pamela emma nicole helen
samantha katherine christine debra rachel carolyn janet catherine maria heather diane ruth julie olivia joyce virginia
victoria kelly lauren christina joan evelyn judith megan andrea cheryl hannah jacqueline martha gloria teresa ann sara
madison frances kathryn janice jean abigail alice julia judy sophia grace denise amber doris marilyn danielle beverly
isabella theresa diana natalie brittany charlotte marie kayla alexis lori tom tim jim bob bill mike dave steve dan ben
sam max leo alex chris nick matt tony ted fred greg jeff ron don ken kate jane anne sue beth meg liz lily rose ella
mia zoe chloe lucy ava eva nina maya tina gina jon evan cal calvin caroline melanie joanna nate tim audrey deborah
jolene andy otto ada hugo karl hans carlos luis miguel pedro pablo diego marco luca giulia sofia elena ivan igor olga
natasha yuki hiro wei mei raj priya anil arjun ravi sanjay fatima ahmed ali omar hassan mohammed aisha leila sven lars
ingrid astrid freya
"""
GIVEN_NAMES: Final = frozenset(_GIVEN_TEXT.split())

_PLACE_TEXT = """
america usa us u.s u.s. u.s.a uk u.k. england scotland wales ireland britain france germany italy spain portugal
netherlands belgium switzerland austria sweden norway denmark finland iceland poland czechia hungary romania bulgaria
greece turkey russia ukraine serbia croatia canada mexico brazil argentina chile peru colombia venezuela ecuador
bolivia cuba jamaica india pakistan bangladesh nepal china japan korea taiwan vietnam thailand philippines indonesia
malaysia singapore australia egypt morocco algeria tunisia ethiopia kenya uganda tanzania nigeria ghana iran iraq
syria lebanon israel jordan europe asia africa alabama alaska arizona arkansas california colorado connecticut
delaware florida hawaii idaho illinois indiana iowa kansas kentucky louisiana maine maryland massachusetts michigan
minnesota mississippi missouri montana nebraska nevada ohio oklahoma oregon pennsylvania tennessee texas utah vermont
wisconsin wyoming london paris berlin madrid rome vienna amsterdam brussels lisbon dublin oslo stockholm copenhagen
helsinki prague warsaw budapest athens istanbul moscow tokyo kyoto osaka beijing shanghai delhi mumbai bangalore
bangkok jakarta manila sydney melbourne brisbane auckland toronto vancouver montreal boston chicago seattle denver
austin dallas houston miami atlanta philadelphia detroit phoenix portland orlando nashville brooklyn manhattan munich
hamburg cologne milan venice florence barcelona seville porto edinburgh glasgow manchester liverpool birmingham
bristol cairo nairobi lagos bali
"""
PLACES: Final = frozenset(_PLACE_TEXT.split())
_PLACE_WORD_TEXT = """
river lake mountain mountains mount city county street avenue road park island islands bay beach airport station
canyon valley desert forest hill hills peak falls sea ocean town village province state district region peninsula
coast square bridge castle palace museum cathedral church temple harbor harbour port creek springs trail highway
garden gardens plaza stadium arena hotel cafe café restaurant republic kingdom territory
"""
PLACE_WORDS: Final = frozenset(_PLACE_WORD_TEXT.split())
_ORGANIZATION_TEXT = """
inc inc. ltd ltd. corp corp. co co. llc gmbh ag plc university college school institute academy association society
club company corporation group party union league team band orchestra committee council commission ministry department
agency bureau bank records pictures studios studio productions entertainment airlines airways press publishing
foundation federation organization organisation army navy force police court congress senate parliament labs
laboratories systems technologies software motors industries partners hospital center centre church museum
"""
ORGANIZATION_WORDS: Final = frozenset(_ORGANIZATION_TEXT.split())
_OCCUPATION_TEXT = """
actor actress director producer writer author poet novelist journalist singer songwriter musician composer guitarist
drummer pianist rapper dancer painter artist sculptor photographer architect engineer scientist physicist chemist
biologist mathematician astronomer historian philosopher economist psychologist sociologist lawyer attorney judge
politician diplomat businessman businesswoman entrepreneur executive manager designer developer programmer analyst
consultant teacher professor lecturer researcher scholar academic nurse doctor physician surgeon dentist pharmacist
therapist veterinarian vet chef cook baker waiter waitress barista farmer carpenter electrician plumber mechanic
driver pilot soldier officer general admiral sailor policeman firefighter paramedic athlete footballer cricketer
swimmer cyclist boxer wrestler golfer sprinter skier skater player coach trainer referee model comedian presenter host
broadcaster screenwriter playwright filmmaker cinematographer editor publisher translator librarian accountant banker
auditor secretary receptionist salesman clerk student intern volunteer activist missionary priest bishop monk nun
theologian equestrian gymnast rower jockey explorer inventor illustrator cartoonist animator critic columnist blogger
streamer minister senator mayor governor president king queen prince princess duke count nobleman aristocrat
ambassador conductor violinist cellist bassist vocalist soprano tenor organist choreographer curator archaeologist
anthropologist linguist geologist botanist zoologist statistician technician supervisor administrator coordinator
counselor counsellor tutor instructor florist gardener tailor jeweler plumber founder freelancer
"""
OCCUPATIONS: Final = frozenset(_OCCUPATION_TEXT.split())


@lru_cache(maxsize=1)
def _plain_words() -> frozenset[str]:
    """English words written in lower case: common words of the built-in embedder's vocabulary that are not names."""
    return frozenset((Path(__file__).parent / "plain_words.txt").read_text(encoding="ascii").split())


@lru_cache(maxsize=8192)
def is_plain(word: str) -> bool:
    """Whether a word in lower case is an ordinary word, which is capitalised only by position."""
    bare = word.partition("'")[0]
    if bare in GIVEN_NAMES or bare in PLACES:
        return False
    return bare in OPENERS or bare in _plain_words() or (len(bare) > 4 and bare.endswith(_ENDINGS))
