"""Where methods are from: the bibliography of the table of methods, by author and year."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

SOURCES: Mapping[str, str] = MappingProxyType(
    {
        "Anick, Mitra and Sondhi 1982": (
            "D. Anick, D. Mitra, M. M. Sondhi: Stochastic theory of a data-handling system with "
            "multiple sources. Bell System Technical Journal 61(8), 1982"
        ),
        "Baccelli, Makowski and Shwartz 1989": (
            "F. Baccelli, A. M. Makowski, A. Shwartz: The fork-join queue and related systems with "
            "synchronization constraints. Advances in Applied Probability 21(3), 1989"
        ),
        "Baskett et al. 1975": (
            "F. Baskett, K. M. Chandy, R. R. Muntz, F. G. Palacios: Open, closed, and mixed "
            "networks of queues with different classes of customers. Journal of the ACM 22(2), 1975"
        ),
        "Bondi and Buzen 1984": (
            "A. B. Bondi, J. P. Buzen: The response times of priority classes under preemptive "
            "resume in M/G/m queues. ACM SIGMETRICS, 1984"
        ),
        "Bonferroni 1936": (
            "C. E. Bonferroni: Teoria statistica delle classi e calcolo delle probabilità. 1936"
        ),
        "Boxma, Kelly and Konheim 1984": (
            "O. J. Boxma, F. P. Kelly, A. G. Konheim: The product form for sojourn time "
            "distributions in cyclic exponential queues. Journal of the ACM 31(1), 1984"
        ),
        "Brumelle 1971": (
            "S. L. Brumelle: On the relation between customer and time averages in queues. "
            "Journal of Applied Probability 8(3), 1971"
        ),
        "Burke 1969": (
            "P. J. Burke: The dependence of sojourn times in tandem M/M/s queues. Operations "
            "Research 17(4), 1969"
        ),
        "Burman and Smith 1983": (
            "D. Y. Burman, D. R. Smith: A light-traffic theorem for multi-server queues. "
            "Mathematics of Operations Research 8(1), 1983"
        ),
        "Cantelli 1928": "F. P. Cantelli: Sui confini della probabilità. 1928",
        "Chandy and Neuse 1982": (
            "K. M. Chandy, D. Neuse: Linearizer: a heuristic algorithm for queueing network models "
            "of computing systems. Communications of the ACM 25(2), 1982"
        ),
        "Chandy, Herzog and Woo 1975": (
            "K. M. Chandy, U. Herzog, L. Woo: Parametric analysis of queuing networks. IBM Journal "
            "of Research and Development 19(1), 1975"
        ),
        "Cobham 1954": (
            "A. Cobham: Priority assignment in waiting line problems. Operations Research 2(1), "
            "1954"
        ),
        "Coffman, Muntz and Trotter 1970": (
            "E. G. Coffman, R. R. Muntz, H. Trotter: Waiting time distributions for "
            "processor-sharing systems. Journal of the ACM 17(1), 1970"
        ),
        "Cosmetatos 1976": (
            "G. P. Cosmetatos: Some approximate equilibrium results for the multi-server queue "
            "(M/G/r). Operational Research Quarterly 27(3), 1976"
        ),
        "David and Nagaraja 2003": (
            "H. A. David, H. N. Nagaraja: Order Statistics. Third edition, Wiley, 2003"
        ),
        "Denning and Buzen 1978": (
            "P. J. Denning, J. P. Buzen: The operational analysis of queueing network models. ACM "
            "Computing Surveys 10(3), 1978"
        ),
        "Erlang 1909": (
            "A. K. Erlang: The theory of probabilities and telephone conversations. Nyt Tidsskrift "
            "for Matematik B 20, 1909"
        ),
        "Erlang 1917": (
            "A. K. Erlang: Solution of some problems in the theory of probabilities of "
            "significance in automatic telephone exchanges. Elektroteknikeren 13, 1917"
        ),
        "Flatto and Hahn 1984": (
            "L. Flatto, S. Hahn: Two parallel queues created by arrivals with two demands I. SIAM "
            "Journal on Applied Mathematics 44(5), 1984"
        ),
        "Kella and Yechiali 1985": (
            "O. Kella, U. Yechiali: Waiting times in the non-preemptive priority M/M/c queue. "
            "Stochastic Models 1(2), 1985"
        ),
        "Kelly 1979": "F. P. Kelly: Reversibility and Stochastic Networks. Wiley, 1979",
        "Kesten and Runnenburg 1957": (
            "H. Kesten, J. T. Runnenburg: Priority in waiting line problems. Indagationes "
            "Mathematicae 19, 1957"
        ),
        "Khinchine 1932": (
            "A. Y. Khinchine: Mathematical theory of a stationary queue. Matematicheskii Sbornik "
            "39(4), 1932"
        ),
        "Kimura 1986": (
            "T. Kimura: A two-moment approximation for the mean waiting time in the GI/G/s queue. "
            "Management Science 32(6), 1986"
        ),
        "Kleinrock 1975": "L. Kleinrock: Queueing Systems, Volume 1: Theory. Wiley, 1975",
        "Kleinrock, Muntz and Rodemich 1971": (
            "L. Kleinrock, R. R. Muntz, E. Rodemich: The processor-sharing queueing model for "
            "time-shared systems with bulk arrivals. Networks 1(1), 1971"
        ),
        "Lee and Longton 1959": (
            "A. M. Lee, P. A. Longton: Queueing processes associated with airline passenger "
            "check-in. Operational Research Quarterly 10(1), 1959"
        ),
        "MacGregor Smith 2003": (
            "J. MacGregor Smith: M/G/c/K blocking probability models and system performance. "
            "Performance Evaluation 52(4), 2003"
        ),
        "Lubich 1988": (
            "C. Lubich: Convolution quadrature and discretized operational calculus I. Numerische "
            "Mathematik 52(2), 1988"
        ),
        "Nelson and Tantawi 1988": (
            "R. Nelson, A. N. Tantawi: Approximate analysis of fork/join synchronization in "
            "parallel queues. IEEE Transactions on Computers 37(6), 1988"
        ),
        "Pollaczek 1930": (
            "F. Pollaczek: Über eine Aufgabe der Wahrscheinlichkeitstheorie. Mathematische "
            "Zeitschrift 32, 1930"
        ),
        "Reich 1957": (
            "E. Reich: Waiting times when queues are in tandem. Annals of Mathematical Statistics "
            "28(3), 1957"
        ),
        "Reiser 1979": (
            "M. Reiser: A queueing network analysis of computer communication networks with window "
            "flow control. IEEE Transactions on Communications 27(8), 1979"
        ),
        "Reiser and Lavenberg 1980": (
            "M. Reiser, S. S. Lavenberg: Mean-value analysis of closed multichain queuing "
            "networks. Journal of the ACM 27(2), 1980"
        ),
        "Roberts and Virtamo 1991": (
            "J. W. Roberts, J. T. Virtamo: The superposition of periodic cell arrival streams in "
            "an ATM multiplexer. IEEE Transactions on Communications 39(2), 1991"
        ),
        "Sakata, Noguchi and Oizumi 1969": (
            "M. Sakata, S. Noguchi, J. Oizumi: Analysis of a processor-shared queueing model for "
            "time-sharing systems. Hawaii International Conference on System Sciences, 1969"
        ),
        "Schweitzer 1979": (
            "P. J. Schweitzer: Approximate analysis of multiclass closed networks of queues. "
            "International Conference on Stochastic Control and Optimization, Amsterdam, 1979"
        ),
        "Sevcik 1977": (
            "K. C. Sevcik: Priority scheduling disciplines in queueing network models of computer "
            "systems. IFIP Congress, 1977"
        ),
        "Takahashi 1981": (
            "Y. Takahashi: Asymptotic exponentiality of the tail of the waiting-time distribution "
            "in a PH/PH/c queue. Advances in Applied Probability 13(3), 1981"
        ),
        "Takács 1962": (
            "L. Takács: Introduction to the Theory of Queues. Oxford University Press, 1962"
        ),
        "Takács 1963": (
            "L. Takács: A single-server queue with feedback. Bell System Technical Journal 42(2), "
            "505-519, 1963"
        ),
        "Turner, Rao and Rao 2010": (
            "P. Turner, B. B. Rao, N. Rao: CPU bandwidth control for CFS. Proceedings of the Linux "
            "Symposium, 2010"
        ),
        "Varki 1999": (
            "E. Varki: Mean value technique for closed fork-join networks. ACM SIGMETRICS, 1999"
        ),
        "Walrand and Varaiya 1980": (
            "J. Walrand, P. Varaiya: Sojourn times and the overtaking condition in Jacksonian "
            "networks. Advances in Applied Probability 12(4), 1980"
        ),
        "Fredericks 1980": (
            "A. A. Fredericks: Congestion in blocking systems: a simple approximation technique. "
            "Bell System Technical Journal 59(6), 1980"
        ),
        "Whitt 1983": (
            "W. Whitt: The queueing network analyzer. Bell System Technical Journal 62(9), 1983"
        ),
    }
)
"""Each entry by the name by which docs and docstrings cite it."""
