import java.security.MessageDigest
import sbt._

/** The files of one version as a public Maven repository takes them, but for the signatures. */
object Release {

  private val checksums = Seq("md5" -> "MD5", "sha1" -> "SHA-1", "sha256" -> "SHA-256", "sha512" -> "SHA-512")

  /** Fills the folder of a version anew: each file under its published name, with its checksums beside it. */
  def stage(folder: File, files: Seq[(File, String)]): File = {
    IO.delete(folder)
    for ((file, name) <- files) {
      IO.copyFile(file, folder / name)
      checksums.foreach { case (suffix, algorithm) => IO.write(folder / s"$name.$suffix", digest(file, algorithm)) }
    }
    folder
  }

  private def digest(file: File, algorithm: String): String =
    MessageDigest.getInstance(algorithm).digest(IO.readBytes(file)).map(byte => f"$byte%02x").mkString
}
