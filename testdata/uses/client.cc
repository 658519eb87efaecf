#include "acme/user/v1/user.pb.h"
#include "acme/user/v1/user.grpc.pb.h"

#include <string>

namespace billing {

namespace pb = acme::user::v1;
using acme::user::v1::Address; // uses: Address

class Client {
 public:
  explicit Client(std::unique_ptr<pb::Users::Stub> stub) : stub_(std::move(stub)) {} // uses: Users

  pb::User Load(const std::string& name) { // uses: User
    pb::GetUserRequest request; // uses: GetUserRequest
    request.set_name(name); // uses: GetUserRequest.name
    acme::user::v1::User user; // uses: User
    grpc::ClientContext context;
    stub_->GetUser(&context, request, &user); // uses: Users.GetUser
    if (user.has_boss()) { // uses: User.boss
      Print(user.boss().mail()); // uses: User.boss, User.mail
    }
    return user;
  }

  const std::string& name() const { return name_; }

 private:
  std::unique_ptr<pb::Users::Stub> stub_; // uses: Users
  std::string name_;
};

void Build(pb::User* user) { // uses: User
  user->set_name("a"); // uses: User.name
  user->set_kind(pb::KIND_ADMIN); // uses: User.kind, KIND_ADMIN
  Address* address = user->add_addresses(); // uses: Address, User.addresses
  address->set_street("b"); // uses: Address.street
  user->mutable_details()->set_text("c"); // uses: User.details, User.Details.text
  (*user->mutable_places())["x"].set_street("d"); // uses: User.places, Address.street
}

void Walk(const pb::User& user, const Client& client) { // uses: User
  for (const auto& address : user.addresses()) { // uses: User.addresses
    Print(address.street() + address.name()); // uses: Address.street, Address.name
  }
  switch (user.contact_case()) { // uses: User.contact
    case pb::User::kPhone: // uses: User, User.phone
      Print(user.phone()); // uses: User.phone
      break;
    default:
      break;
  }
  // user.nick() is a comment.
  Print("user.nick()" + client.name());
  auto other = std::make_unique<pb::User>(); // uses: User
  other->clear_nick(); // uses: User.nick
}

}  // namespace billing
