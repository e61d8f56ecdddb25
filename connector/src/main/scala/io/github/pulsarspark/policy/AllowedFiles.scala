package io.github.pulsarspark.policy

import java.nio.file.Path

/** The one check of files that options name, before they are looked at: an error says nothing of a file that is not in
  * a folder of the policy, not even whether it exists.
  */
private[pulsarspark] object AllowedFiles {

  /** Size limit of a file with a policy: tokens, keys and certificates are far smaller. */
  private val MaxBytes = 1 << 20

  /** The limit of a file's size, which is `otherwise` without a policy. */
  def mostBytes(otherwise: Int): Int = Policy.now().fold(otherwise)(_ => math.min(MaxBytes, otherwise))

  /** Fails unless the file is in a folder of the policy, with all links followed.
    *
    * @param shown
    *   its name in an error
    */
  def check(option: String, file: Path, shown: String): Unit = Policy.now().foreach(check(_, option, file, shown))

  private[policy] def check(policy: Policy, option: String, file: Path, shown: String): Unit = {
    val place = RealPath(file)
    if (!policy.files.exists(folder => place.startsWith(RealPath(folder)))) throw refused(option, shown)
  }

  private[policy] def refused(option: String, shown: String) =
    Refused(option, s"the file $shown", PolicyKeys.Files)
}
