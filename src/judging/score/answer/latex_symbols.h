// What a LaTeX symbol is as text: pairs of a command's name and its characters, where _ is a space.
// The names are those that the graders' LaTeX reader (pylatexenc 2.10) shows as characters; each
// pair is that program's output for the command. A name that is not here shows nothing.
#pragma once

#include <string_view>

namespace assay::score {

inline constexpr std::string_view kLatexSymbols = R"(
oe œ OE Œ ae æ AE Æ aa å AA Å o ø O Ø ss ß L Ł l ł i ı j ȷ backslash \ hbar ħ ell ℓ forall ∀
complement ∁ partial ∂ exists ∃ nexists ∄ varnothing ∅ emptyset ∅ aleph ℵ nabla ∇ in ∈
notin ∉ ni ∋ prod ∏ coprod ∐ sum ∑ setminus ∖ smallsetminus ∖ ast ∗ circ ∘ bullet ∙ propto ∝
infty ∞ parallel ∥ nparallel ∦ wedge ∧ vee ∨ cap ∩ cup ∪ int ∫ iint ∬ iiint ∭ oint ∮ sim ∼
backsim ∽ simeq ≃ approx ≈ neq ≠ equiv ≡ le ≤ ge ≥ leq ≤ geq ≥ leqslant ⩽ geqslant ⩾ leqq ≦
geqq ≧ lneqq ≨ gneqq ≩ ll ≪ gg ≫ nless ≮ ngtr ≯ nleq ≰ ngeq ≱ lesssim ≲ gtrsim ≳ lessgtr ≶
gtrless ≷ prec ≺ succ ≻ preceq ≼ succeq ≽ precsim ≾ succsim ≿ nprec ⊀ nsucc ⊁ subset ⊂
supset ⊃ subseteq ⊆ supseteq ⊇ nsubseteq ⊈ nsupseteq ⊉ subsetneq ⊊ supsetneq ⊋ cdot ·
times × otimes ⊗ oplus ⊕ bigotimes ⊗ bigoplus ⊕ cos cos sin sin tan tan arccos arccos
arcsin arcsin arctan arctan cosh cosh sinh sinh tanh tanh arccosh arccosh arcsinh arcsinh
arctanh arctanh ln ln log log exp exp max max min min sup sup inf inf lim lim limsup lim_sup
liminf lim_inf prime ' dag † dagger † pm ± mp ∓ quad __ qquad ____ ldots … cdots ⋯ ddots ⋱
iddots ⋰ vdots ⋮ dots … dotsc … dotsb … dotsm … dotsi … dotso … langle ⟨ rangle ⟩ lvert |
rvert | vert | lVert ‖ rVert ‖ Vert ‖ mid | nmid ∤ uparrow ↑ downarrow ↓ rightarrow → to →
leftarrow ← longrightarrow ⟶ longleftarrow ⟵ alpha α Alpha Α beta β Beta Β gamma γ Gamma Γ
delta δ Delta Δ epsilon ϵ Epsilon Ε zeta ζ Zeta Ζ eta η Eta Η theta θ Theta Θ iota ι Iota Ι
kappa κ Kappa Κ lambda λ Lambda Λ mu μ Mu Μ nu ν Nu Ν xi ξ Xi Ξ omicron ο Omicron Ο pi π
Pi Π rho ρ Rho Ρ sigma σ Sigma Σ tau τ Tau Τ upsilon υ Upsilon Υ phi ϕ Phi Φ chi χ Chi Χ
psi ψ Psi Ψ omega ω Omega Ω varepsilon ε vartheta ϑ varpi ϖ varrho ϱ varsigma ς varphi φ
guillemotleft « guillemotright » DH Ð TH Þ dh ð th þ DJ Đ dj đ IJ Ĳ ij ĳ NG Ŋ ng ŋ
varkappa ϰ backepsilon ϶ enskip   quotesinglbase ‚ quotedblbase „ backprime ‵
guilsinglleft ‹ guilsinglright › nolinebreak ⁠ wp ℘ beth ℶ gimel ℷ daleth ℸ leftrightarrow ↔
updownarrow ↕ nwarrow ↖ nearrow ↗ searrow ↘ swarrow ↙ nleftarrow ↚ nrightarrow ↛
arrowwaveleft ↜ arrowwaveright ↝ twoheadleftarrow ↞ twoheadrightarrow ↠ leftarrowtail ↢
rightarrowtail ↣ mapsto ↦ hookleftarrow ↩ hookrightarrow ↪ looparrowleft ↫ looparrowright ↬
leftrightsquigarrow ↭ nleftrightarrow ↮ Lsh ↰ Rsh ↱ curvearrowleft ↶ curvearrowright ↷
circlearrowleft ↺ circlearrowright ↻ leftharpoonup ↼ leftharpoondown ↽ upharpoonright ↾
upharpoonleft ↿ rightharpoonup ⇀ rightharpoondown ⇁ downharpoonright ⇂ downharpoonleft ⇃
rightleftarrows ⇄ dblarrowupdown ⇅ leftrightarrows ⇆ leftleftarrows ⇇ upuparrows ⇈
rightrightarrows ⇉ downdownarrows ⇊ leftrightharpoons ⇋ rightleftharpoons ⇌ nLeftarrow ⇍
nLeftrightarrow ⇎ nRightarrow ⇏ Leftarrow ⇐ Uparrow ⇑ Rightarrow ⇒ Downarrow ⇓
Leftrightarrow ⇔ Updownarrow ⇕ Lleftarrow ⇚ Rrightarrow ⇛ rightsquigarrow ⇝
DownArrowUpArrow ⇵ blacksquare ▪ dotplus ∔ rightangle ∟ angle ∠ measuredangle ∡
sphericalangle ∢ surfintegral ∯ volintegral ∰ clwintegral ∱ therefore ∴ because ∵
homothetic ∻ lazysinv ∾ wr ≀ cong ≅ approxnotequal ≆ approxeq ≊ tildetrpl ≋ allequal ≌
asymp ≍ Bumpeq ≎ bumpeq ≏ doteq ≐ doteqdot ≑ fallingdotseq ≒ risingdotseq ≓ eqcirc ≖
circeq ≗ estimates ≙ starequal ≛ triangleq ≜ between ≬ notlessgreater ≸ notgreaterless ≹
uplus ⊎ sqsubset ⊏ sqsupset ⊐ sqsubseteq ⊑ sqsupseteq ⊒ sqcap ⊓ sqcup ⊔ ominus ⊖ oslash ⊘
odot ⊙ circledcirc ⊚ circledast ⊛ circleddash ⊝ boxplus ⊞ boxminus ⊟ boxtimes ⊠ boxdot ⊡
vdash ⊢ dashv ⊣ top ⊤ perp ⊥ truestate ⊧ forcesextra ⊨ Vdash ⊩ Vvdash ⊪ VDash ⊫ nvdash ⊬
nvDash ⊭ nVdash ⊮ nVDash ⊯ vartriangleleft ⊲ vartriangleright ⊳ trianglelefteq ⊴
trianglerighteq ⊵ original ⊶ image ⊷ multimap ⊸ hermitconjmatrix ⊹ intercal ⊺ veebar ⊻
rightanglearc ⊾ bigwedge ⋀ bigvee ⋁ bigcap ⋂ bigcup ⋃ diamond ♢ star ⋆ divideontimes ⋇
bowtie ⋈ ltimes ⋉ rtimes ⋊ leftthreetimes ⋋ rightthreetimes ⋌ backsimeq ⋍ curlyvee ⋎
curlywedge ⋏ Subset ⋐ Supset ⋑ Cap ⋒ Cup ⋓ pitchfork ⋔ lessdot ⋖ gtrdot ⋗ verymuchless ⋘
verymuchgreater ⋙ lesseqgtr ⋚ gtreqless ⋛ curlyeqprec ⋞ curlyeqsucc ⋟ lnsim ⋦ gnsim ⋧
precedesnotsimilar ⋨ succnsim ⋩ ntriangleleft ⋪ ntriangleright ⋫ ntrianglelefteq ⋬
ntrianglerighteq ⋭ udots ⋰ barwedge ⌅ varperspcorrespond ⌆ lceil ⌈ rceil ⌉ lfloor ⌊ rfloor ⌋
recorder ⌕ ulcorner ⌜ urcorner ⌝ llcorner ⌞ lrcorner ⌟ frown ⌢ smile ⌣ lmoustache ⎰
rmoustache ⎱ square □ bigtriangleup △ blacktriangle ▴ vartriangle ▵ blacktriangleright ▸
triangleright ▹ bigtriangledown ▽ blacktriangledown ▾ triangledown ▿ blacktriangleleft ◂
triangleleft ◃ lozenge ◊ bigcirc ◯ quarternote ♩ flat ♭ natural ♮ sharp ♯
longleftrightarrow ⟷ Longleftarrow ⟸ Longrightarrow ⟹ Longleftrightarrow ⟺ longmapsto ⟼
blacklozenge ⧫ clockoint ⨏ sqrint ⨖ amalg ⨿ lessapprox ⪅ gtrapprox ⪆ lneq ⪇ gneq ⪈
lnapprox ⪉ gnapprox ⪊ lesseqqgtr ⪋ gtreqqless ⪌ eqslantless ⪕ eqslantgtr ⪖ precneqq ⪵
succneqq ⪶ precapprox ⪷ succapprox ⪸ precnapprox ⪹ succnapprox ⪺ subseteqq ⫅ supseteqq ⫆
subsetneqq ⫋ supsetneqq ⫌ lbrace { rbrace } lnot ¬ div ÷ eth ƪ Stigma Ϛ Digamma Ϝ digamma ϝ
Koppa Ϟ Sampi Ϡ dddot ⃛ ddddot ⃜ hslash ℏ mho ℧ surd √ Colon ∷ lessequivlnt ≲
greaterequivlnt ≳ preccurlyeq ≼ succcurlyeq ≽ upslopeellipsis ⋰ downslopeellipsis ⋱
circledS Ⓢ diagup ╱ rightmoon ☾ mercury ☿ venus ♀ male ♂ jupiter ♃ saturn ♄ uranus ♅
neptune ♆ pluto ♇ aries ♈ taurus ♉ gemini ♊ cancer ♋ leo ♌ virgo ♍ libra ♎ scorpio ♏
sagittarius ♐ capricornus ♑ aquarius ♒ pisces ♓ eighthnote ♪ UpArrowBar ⤒ DownArrowBar ⤓
LeftRightVector ⥎ RightUpDownVector ⥏ DownLeftRightVector ⥐ LeftUpDownVector ⥑
LeftVectorBar ⥒ RightVectorBar ⥓ RightUpVectorBar ⥔ RightDownVectorBar ⥕ DownLeftVectorBar ⥖
DownRightVectorBar ⥗ LeftUpVectorBar ⥘ LeftDownVectorBar ⥙ LeftTeeVector ⥚ RightTeeVector ⥛
RightUpTeeVector ⥜ RightDownTeeVector ⥝ DownLeftTeeVector ⥞ DownRightTeeVector ⥟
LeftUpTeeVector ⥠ LeftDownTeeVector ⥡ UpEquilibrium ⥮ ReverseUpEquilibrium ⥯ RoundImplies ⥰
Angle ⦜ LeftTriangleBar ⧏ RightTriangleBar ⧐ RuleDelayed ⧴ perspcorrespond ⩞ Equal ⩵
NestedLessLess ⪡ NestedGreaterGreater ⪢ openbracketleft 〚 openbracketright 〛 id 𝕀 Ident 𝕀
)";

}  // namespace assay::score
