"""The words of a deck: which there are, where they stand, which open a block of their own.

From the CRYSTAL23 manual as far as decks and outputs at hand confirm it. Unknown words are not
refused: the linter warns of them and names the nearest one. Pure data.
"""

from __future__ import annotations

from typing import Final

DIMENSIONS: Final = ("CRYSTAL", "SLAB", "POLYMER", "MOLECULE", "EXTERNAL", "HELIX", "DLVINPUT")
"""What the second record can be. The last two are read, not judged."""

TASKS: Final = frozenset(
    {"OPTGEOM", "FREQCALC", "ELASTCON", "EOS", "CPHF", "CPKS", "ELAPIEZO", "PIEZOCON"}
)
"""What a deck computes beyond a single point; stands in the geometry section."""

BLOCKS: Final = TASKS | frozenset(
    {
        "PREOPTGEOM", "INTCPHF", "IRSPEC", "RAMSPEC", "DFT", "DFTD3", "GCP", "PRINTOUT", "ANHARM",
        "QHA", "INTCPKS",
    }
)  # fmt: skip
"""Keywords that open a block with an END of its own."""

NO_DATA: Final = frozenset(
    {
        "ANGSTROM", "BOHR", "FRACTION", "BREAKSYM", "KEEPSYMM", "EXTPRT", "CIFPRT", "CIFPRTSYM",
        "TESTGEOM", "STOP", "NOSHIFT", "PRIMITIV", "PURIFY", "SYMMDIR", "SYMMOPS", "TENSOR",
        "TRASREMO", "ORIGIN", "STRUCPRT", "MOLDRAW", "COORPRT", "FINDSYM", "ATOMORDE", "SYMMREMO",
        "NOSYMADA", "CONVCELL", "PRTXYZ",
    }
)  # fmt: skip
"""Geometry keywords without a data record: a number behind one belongs to something else."""

GEOMETRY: Final = NO_DATA | TASKS | frozenset(
    {
        "ATOMBSSE", "ATOMDISP", "ATOMINSE", "ATOMREMO", "ATOMROT", "ATOMSUBS", "CLUSTER",
        "CLUSTSIZE", "ELASTIC", "FIELD", "FIELDCON", "HYDROSUB", "MODISYMM", "MOLEBSSE",
        "MOLECULE", "MOLEXP", "MOLSPLIT", "NANOTUBE", "SWCNT", "NEIGHBOR", "NEIGHPRT", "PRINTCHG",
        "RAYCOV", "ROTCRY", "SCELPHONO", "SUPERCEL", "SUPERCELL", "SCELCONF", "SUPERCON",
        "SETINF", "SETPRINT", "SLAB", "SLABCUT", "SLABINFO", "USESAED", "WULFF", "GRIMME",
        "ANHARM", "QHA", "PRINTOUT", "CONFCNT", "CONFRAND", "PARAMPRT", "DIFFRAC", "SCANATOM",
        "XYZPRT", "BASISSET", "FRAGMENT", "HIRSHBLK", "MEASURE", "CELLDISP",
    }
)  # fmt: skip

SAME_CRYSTAL: Final = NO_DATA | TASKS | frozenset(
    {
        "ANHARM", "QHA", "PRINTOUT", "NEIGHBOR", "NEIGHPRT", "PARAMPRT", "SETINF", "SETPRINT",
        "MODISYMM", "SCELPHONO", "XYZPRT", "PRINTCHG", "SLABINFO", "HIRSHBLK",
    }
)  # fmt: skip
"""Geometry keywords behind which the crystal is still the one that the records describe; with any
other it may have other atoms, another cell or fewer dimensions."""

OPTGEOM: Final = frozenset(
    {
        "ATOMONLY", "FULLOPTG", "CELLONLY", "ITATOCEL", "CVOLOPT", "INTREDUN", "INTLMIXED",
        "HESSIDEN", "HESSMOD1", "HESSMOD2", "HESSNUM", "HESEVLIM", "HESSOPT", "TOLDEG", "TOLDEX",
        "TOLDEE", "MAXCYCLE", "FRAGMENT", "RESTART", "FINALRUN", "EXTPRESS", "ALLOWTRUSTR",
        "NOTRUSTR", "MAXTRADIUS", "TRUSTRADIUS", "PRINTOPT", "PRINTFORCES", "PRINTHESS", "NOXYZ",
        "ONELOG", "NOSYMMOPS", "STEPSIZE", "STEPBMAT", "NUMGRALL", "NUMGRATO", "NUMGRCEL", "BFGS",
        "OLDPOWELL", "RESTHESS", "TESTREDU", "EXPDE", "ENGINEER", "LNGSFROZEN", "ANGSFROZEN",
        "FREEZINT", "FREEZDIH", "FREEZANG", "FIXCELL", "FIXDELTE", "FIXDELTX", "FIXDEIND",
        "CRYDEF", "CELLDEF", "ANGTODOUBLE", "NRSTEPS", "ALPHASTEP", "BKTRNSF2", "DBANGLIST",
        "LOOSE", "TIGHT", "VTIGHT", "NOGUESS", "TSOPT", "MODEFOLLOW", "PATHFOLLOW",
        "SCANREDU", "CHNGTSFOL", "SELECTED", "DEFORM", "PRTMTENS",
    }
)  # fmt: skip

FREQCALC: Final = frozenset(
    {
        "NUMDERIV", "STEPSIZE", "INTENS", "NOINTENS", "INTPOL", "INTLOC", "INTCPHF", "INTRAMAN",
        "RAMANEXP", "IRSPEC", "RAMSPEC", "RAMAN", "NORENORM", "TEMPERAT", "PRESSURE", "ISOTOPES",
        "PREOPTGEOM", "NOOPTGEOM", "OPTGEOM", "DISPERSI", "DISPERSION", "BANDS", "FRAGMENT",
        "RESTART", "MODES", "NOMODES", "NOUSESYMM", "USESYMM", "ANALYSIS", "NOANALYSIS",
        "TEST", "TESTFREQ", "DIELTENS", "DIELISO", "BORN", "LOTO", "COMBMODE", "SCANMODE",
        "ADP", "PDOS", "WANG", "INTERPHESS", "PRINT", "NOSYMMOPS", "CHECKGEO",
        "TOLDEE", "ECKART", "NOECKART", "ANHAPES", "VSCF", "VCI", "ANISOTRO", "CLASSIC",
    }
)  # fmt: skip

ELASTCON: Final = frozenset(
    {
        "NUMDERIV", "STEPSIZE", "PREOPTGEOM", "NOOPTGEOM", "RESTART", "RESTART2", "PRINT",
        "SEISMIC", "SEISMDIR", "SEISM2D", "ISOENT", "DUMPECOR", "CLAMPION", "RELAXION",
        "TOLDEG", "TOLDEX", "FINALRUN", "MAXCYCLE", "FULLOPTG", "ATOMONLY",
    }
)  # fmt: skip
EOS: Final = frozenset({"RANGE", "PREOPTGEOM", "VRANGE", "PRANGE", "RESTART", "RESTART2", "PRINT"})

BASIS: Final = frozenset({"CHARGED", "GHOSTS", "BREAKSYM", "PRINTOUT", "PARAMPRT", "NOPRINT",
                          "ATOMSYMM", "SYMMOPS", "CHARSYMM", "MODISYMM"})  # fmt: skip

GRIDS: Final = ("OLDGRID", "DEFAULT", "LGRID", "XLGRID", "XXLGRID", "XXXLGRID", "HUGEGRID")
DFT: Final = frozenset(
    {
        "SPIN", "EXCHANGE", "CORRELAT", "HYBRID", "NONLOCAL", "RADIAL", "ANGULAR", "TOLLDENS",
        "TOLLGRID", "BATCHPNT", "LIMBEK", "CHUNKS", "SPINFUNC", "DSPIN", "LSRSH-PBE", "LRSH-PBE",
        "RADSAFE", "BECKE", "NEWTON", "SAVANE", "VOSKO", "PARTIALW", "EXTPOT", "OMEGA",
        *GRIDS,
    }
)  # fmt: skip
DFTD3: Final = frozenset(
    {
        "VERSION", "FUNC", "ABC", "S6", "S8", "A1", "A2", "RS6", "RS8", "ALPHA6", "RADIUS",
        "CNRADIUS", "ABCRADIUS", "PRINTC6", "PRTSIX",
    }
)  # fmt: skip
CORES: Final = frozenset({"INPUT", "HAYWLC", "HAYWSC", "BARTHE", "DURAND"})
"""Words that begin an effective core potential within an inline basis set."""
TEXT_DATA: Final = frozenset({"BASISSET", "EXCHANGE", "CORRELAT", "FUNC", "METHOD"})
"""Keywords whose data record is a name, not numbers."""

SCF: Final = frozenset(
    {
        "RHF", "UHF", "ROHF", "DFT", "DFTD3", "GCP", "GCPAUTO", "HF3C", "HFSOL3C", "TOLINTEG",
        "SHRINK", "TOLDEE", "TOLDEP", "TOLPSEUD", "MAXCYCLE", "FMIXING", "SMEAR", "DIIS",
        "NODIIS", "DIISALLK", "DIISALLA", "DIISALLC", "HISTDIIS", "PRTDIIS", "ANDERSON",
        "BROYDEN", "LEVSHIFT", "ATOMSPIN", "SPINLOCK", "SPINLOC2", "BETALOCK", "GUESSP",
        "GUESSPAT", "GUESDUAL", "EIGSHIFT", "EIGSHROT", "PPAN", "POLE", "POLEORDR", "LDREMO",
        "BIPOLAR", "BIPOSIZE", "EXCHSIZE", "ILASIZE", "MONSPLIT", "NOBIPOLA", "NOBIPCOU",
        "NOBIPEXC", "MPP", "CMPLXFAC", "REPLDATA", "FIXINDEX", "FDOCCUP", "FDAOSYM", "EXTPRT",
        "LOWMEM", "NOLOWMEM", "NOFMWF", "FULLTIME", "SAVEWF", "NOSYMADA", "SYMADAPT", "PRINTOUT",
        "SETPRINT", "SETINF", "STOP", "GRADCAL", "STDIAG", "DCDIAG", "ADIIS", "NEIGHBOR",
        "NEIGHPRT", "MADELIND", "MEMOPRT", "PSEUDPOL", "KSYMMPRT", "INTGPACK",
        "DOSS", "ENECOR", "LOCALWF", "NOMONDIR", "PARAMPRT", "QVRSGDIM", "ROBUST", "TOLSCF",
        "LOWKMEM", "EXCHPERM", "EXCHRED", "HIRSHBLK", "MULPOPAN", "BASE", "GEOM", "GEBA", "XYVDW",
        "SMEARING", "SCFDIR", "NODIRECT", "NOSHIFT", "SPINLC2", "GRIMME",
    }
) - {"SMEARING"}  # fmt: skip

INSIDE: Final = {
    "OPTGEOM": OPTGEOM,
    "PREOPTGEOM": OPTGEOM,
    "FREQCALC": FREQCALC,
    "ELASTCON": ELASTCON,
    "EOS": EOS,
    "DFTD3": DFTD3,
}
"""Block → the words that stand in it. Blocks that are not named are passed through. DFT is judged
by ``tables.functionals`` as well."""
